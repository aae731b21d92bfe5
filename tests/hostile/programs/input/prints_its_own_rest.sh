# ends: success
# prints: echo never run
cat
echo never run
