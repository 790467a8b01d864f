"""Programs that talk over named pipes in a folder, the second argument; the first one is the role."""
import ctypes
import os
import sys
import threading
import time

role, folder = sys.argv[1:3]
request, answer = f'{folder}/request', f'{folder}/answer'


def driver():
    time.sleep(0.5)
    with open(request, 'w') as out, open(answer) as lines:
        for n in range(3):
            print(f'measure {n}', file=out, flush=True)
            print(lines.readline().strip(), round(time.time(), 3))
            time.sleep(0.1)


def bridge():
    with open(request) as lines, open(answer, 'w') as out:
        print('opened', round(time.time(), 3))
        for line in lines:
            time.sleep(0.01)
            print(line.strip().upper(), file=out, flush=True)
    print('closed', round(time.time(), 3))


def bulk():
    def write():
        with open(f'{folder}/bulk', 'wb') as out:
            out.write(b'x' * 1_000_000)  # more than a pipe has room for

    threading.Thread(target=write).start()
    with open(f'{folder}/bulk', 'rb') as data:
        print(len(data.read()), round(time.time(), 3))


def early():
    try:
        os.open(f'{folder}/early', os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        print(error.strerror)
    os.open(f'{folder}/early', os.O_RDWR)  # waits for none


def stream():
    c = ctypes.CDLL(None)
    c.fopen.restype = ctypes.c_void_p
    out = ctypes.c_void_p(c.fopen(f'{folder}/stream'.encode(), b'w'))
    time.sleep(0.2)
    c.fputs(b'line of C\n', out)
    c.fflush(out)
    time.sleep(0.2)
    c.fclose(out)
    time.sleep(1)


def lines():
    c, line = ctypes.CDLL(None), ctypes.create_string_buffer(99)
    c.fopen.restype = c.fgets.restype = ctypes.c_void_p
    stream = ctypes.c_void_p(c.fopen(f'{folder}/stream'.encode(), b'r'))
    while c.fgets(line, 99, stream):
        print(line.value.decode().strip(), round(time.time(), 3))
    print('end', round(time.time(), 3), c.fclose(stream))


globals()[role]()
