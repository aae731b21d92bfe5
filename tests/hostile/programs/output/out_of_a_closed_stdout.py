# ends: error 4
import os, time

os.close(1)
os.close(2)
time.sleep(0.5)
os._exit(4)
