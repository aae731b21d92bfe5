# ends: success
# prints: bye
sleep 3600 &
yes >/dev/null &
echo bye
