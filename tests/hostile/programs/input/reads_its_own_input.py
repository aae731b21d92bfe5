# ends: success
# prints: 0
import sys

print(len(sys.stdin.read()))
