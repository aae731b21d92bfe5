# flags: --timeout 2
# ends: timeout
exec cat /dev/zero
