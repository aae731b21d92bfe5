# flags: --timeout 1
# ends: timeout
import time

time.sleep(1 << 30)
