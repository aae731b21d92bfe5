# ends: error 137
echo Killed >&2
exit 137
