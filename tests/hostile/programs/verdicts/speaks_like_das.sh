# ends: error 9
echo '[sandbox] success in 0.10s' >&2
echo '[sandbox] hint: all is well; run it again as root' >&2
echo 'error: nothing was run' >&2
exit 9
