# flags: --timeout 1
# ends: timeout
print(9**9**9)
