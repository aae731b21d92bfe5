# ends: error 120 or error 1
import atexit, os, sys

atexit.register(lambda: os._exit(1))
os.close(1)
print("lost")
