# ends: error 137
echo 'Out of memory: Killed process 1 (python) total-vm:999999kB' >&2
echo '[sandbox] out_of_memory in 0.10s' >&2
exit 137
