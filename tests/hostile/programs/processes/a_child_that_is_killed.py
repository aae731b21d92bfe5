# ends: error 137
import os, signal, sys

child = os.fork()
if child == 0:
    os.kill(os.getpid(), signal.SIGKILL)
_, status = os.waitpid(child, 0)
sys.exit(128 + os.WTERMSIG(status))
