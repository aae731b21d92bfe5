# flags: --memory 32 --timeout 3
# ends: success or error 1 or out_of_memory or timeout
for number in range(1_000_000):
    open(f"/tmp/{number}", "w").close()
