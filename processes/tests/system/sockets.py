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


def versions():
    """A socket for IPv6 serves both versions, unless an option says otherwise."""
    both = socket.create_server(('::', 7000), family=socket.AF_INET6, dualstack_ipv6=True)
    six = socket.create_server(('::', 7001), family=socket.AF_INET6)
    four = socket.create_server(('127.0.0.1', 7001))
    mapped = socket.create_server(('::ffff:127.0.0.1', 7002), family=socket.AF_INET6,
                                  dualstack_ipv6=True)
    reached = []
    for listener, address in [(both, ('127.0.0.1', 7000)), (both, ('::1', 7000)),
                              (both, ('::ffff:127.0.0.1', 7000)), (six, ('::1', 7001)),
                              (four, ('127.0.0.1', 7001)), (mapped, ('127.0.0.1', 7002))]:
        with socket.create_connection(address) as connection:
            connection.sendall(b'hi')
            reached.append(listener.accept()[0].recv(2))
    print(reached == [b'hi'] * 6)
    six.close(), mapped.close()
    for address in [('::1', 7001), ('127.0.0.1', 7002)]:
        try:
            socket.create_connection(address)
        except ConnectionRefusedError:
            print('refused', address)
    for option in [(socket.IPPROTO_TCP, socket.TCP_NODELAY),
                   (socket.SOL_SOCKET, socket.SO_REUSEPORT)]:
        both.setsockopt(*option, 1)
        print(both.getsockopt(*option), four.getsockopt(*option))


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
