# flags: --timeout 1
# ends: success or timeout
import time

started = float(open("/proc/self/stat").read().rsplit(")")[-1].split()[19]) / 100
now = float(open("/proc/uptime").read().split()[0])
time.sleep(max(0, 1 - (now - started)))
