# ends: success
# prints: through the back door
with open("/proc/1/fd/1", "w") as out:
    print("through the back door", file=out)
