# ends: success
# prints: done
for device in /dev/tty /dev/console /dev/full /dev/mem /dev/kmsg /dev/null; do
    (echo hello >"$device") 2>/dev/null
done
echo done
