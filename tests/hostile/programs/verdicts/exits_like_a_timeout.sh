# ends: error 124
echo '[sandbox] timeout in 10.01s' >&2
echo '[sandbox] hint: stopped after 10 s, its time limit' >&2
exit 124
