"""Programs that talk over the loopback interface, by the name in the first argument."""
import asyncio
import socket
import sys
import threading
import time


def server():
    listener = socket.create_server(('127.0.0.1', 5000))

    def serve(connection):
        while data := connection.recv(1000):
            time.sleep(0.01)
            connection.sendall(data.upper())
        print('closed')

    while True:
        connection, peer = listener.accept()
        print('accepted', peer, connection.getsockname())
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def client():
    try:
        socket.create_connection(('127.0.0.1', 5000))
    except ConnectionRefusedError:
        print('refused')
        time.sleep(0.05)
    with socket.create_connection(('127.0.0.1', 5000)) as connection:
        print(connection.getpeername(), connection.family.name)
        for n in range(3):
            connection.sendall(b'hello %d' % n)
            print(connection.recv(100), round(time.time(), 3))
        connection.settimeout(0.1)
        try:
            connection.recv(1)
        except TimeoutError:
            print('timeout', round(time.time(), 3))
    try:
        socket.create_connection(('192.0.2.7', 80))
    except OSError as error:
        print(error)


async def echo():
    class Echo(asyncio.DatagramProtocol):
        def connection_made(self, transport):
            self.transport = transport

        def datagram_received(self, data, sender):
            self.transport.sendto(data, sender)

    async def lines(reader, writer):
        while line := await reader.readline():
            writer.write(b'echo ' + line)
        writer.close()

    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(Echo, local_addr=('::1', 6000))
    async with await asyncio.start_server(lines, '127.0.0.1', 6001):
        reader, writer = await asyncio.open_connection('127.0.0.1', 6001)
        writer.write(b'line\n')
        print(await reader.readline())
        await asyncio.sleep(1)


def datagrams():
    time.sleep(0.2)
    out = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    out.connect(('::1', 9))  # nobody is there
    out.send(b'lost')
    # More than a queue of the kernel has room for.
    for n in range(100):
        out.sendto(b'%d' % n, ('::1', 6000))
    print(all(out.recvfrom(9) == (b'%d' % n, ('::1', 6000, 0, 0)) for n in range(100)))


def cycle():
    one, two = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
    own, other = (7000, 7001) if sys.argv[2] == 'first' else (7001, 7000)
    one.bind(('127.0.0.1', own))
    time.sleep(0.5)
    two.sendto(b'', ('127.0.0.1', other))
    while True:
        one.recv(1)
        two.sendto(b'', ('127.0.0.1', other))


role = sys.argv[1]
asyncio.run(echo()) if role == 'echo' else globals()[role]()
