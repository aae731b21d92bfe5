# ends: success
# prints: refused
import socket

made = []
for family, kind in ((socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW), (16, socket.SOCK_RAW)):
    try:
        with socket.socket(family, kind) as it:
            if family == 16:
                # Netlink may be read; what it must not do is change anything.
                it.bind((0, 0))
                it.send(b"\x20\0\0\0\x10\0\x05\0\1\0\0\0\0\0\0\0" + bytes(4) + b"\1\0\0\0\0\0\0\0\1\0\0\0")
                error = int.from_bytes(it.recv(4096)[16:20], "little", signed=True)
                if error == 0:
                    made.append("link up")
            else:
                made.append(str(family))
    except OSError:
        pass
print(*made or ["refused"])
