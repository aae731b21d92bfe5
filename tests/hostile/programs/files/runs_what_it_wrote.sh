# ends: success
# prints: refused
cp /bin/sh /tmp/sh 2>/dev/null || cat /bin/sh >/tmp/sh
chmod 6755 /tmp/sh
/tmp/sh -c 'echo ran' 2>/dev/null || echo refused
