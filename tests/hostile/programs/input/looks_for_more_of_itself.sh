# ends: success
# prints: nothing more
cat
echo nothing more
