# ends: success
# prints: nothing outside
import socket

reached = []
for host in ("1.1.1.1", "8.8.8.8", "169.254.169.254", "172.17.0.1", "10.0.0.1", "192.168.0.1"):
    try:
        socket.create_connection((host, 80), timeout=1).close()
        reached.append(host)
    except OSError:
        pass
for name in ("example.com", "host.docker.internal", "metadata.google.internal", "registry"):
    try:
        socket.getaddrinfo(name, 80)
        reached.append(name)
    except OSError:
        pass
print(*reached or ["nothing outside"])
