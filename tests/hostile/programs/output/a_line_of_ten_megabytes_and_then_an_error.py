# ends: error 3
import sys

print("x" * 10_000_000)
sys.exit(3)
