# ends: success
# prints: alive
kill -9 1 $$
(kill -9 1)
echo alive
