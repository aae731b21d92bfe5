# ends: success
# prints: hello
import socket

with socket.create_server(("127.0.0.1", 0)) as server:
    with socket.create_connection(server.getsockname()) as client:
        client.sendall(b"hello")
    print(server.accept()[0].recv(5).decode())
