# ends: success
# prints: calm
import signal, time

count = 0


def struck(*_):
    global count
    count += 1


signal.signal(signal.SIGALRM, struck)
signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
end = time.monotonic() + 0.5
while time.monotonic() < end:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
print("calm" if count else "never")
