# flags: --timeout 1
# ends: timeout
import signal, time

signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
while True:
    time.sleep(1)
