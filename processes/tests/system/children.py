"""Starts processes in the ways that Python, libc and asyncio have, and tells when they do what."""
import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import time

begin = time.monotonic()


def tell(*words):
    print(*words, 'at', round(time.monotonic() - begin, 3))


def output(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=True, **more).stdout


tell('output', output('echo', 'hello').strip())
tell('parent', output('sh', '-c', 'echo $PPID').strip() == str(os.getpid()))

talks = subprocess.Popen(['sh', '-c', 'sleep 1; echo now; sleep 1; exit 3'], stdout=subprocess.PIPE)
tell('line', talks.stdout.readline())
tell('status', talks.wait())

sleeps = subprocess.Popen(['sleep', '100'])
time.sleep(0.5)
sleeps.terminate()
tell('terminated', sleeps.wait())

sleeps = subprocess.Popen(['sleep', '100'])
try:
    sleeps.wait(timeout=2)
except subprocess.TimeoutExpired:
    tell('timeout')
sleeps.kill()
tell('killed', sleeps.wait())

handles = 'import signal, sys, time\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(5))\ntime.sleep(9)'
handles = subprocess.Popen([sys.executable, '-c', handles])
time.sleep(1)
handles.send_signal(signal.SIGTERM)
tell('handled', handles.wait())

many = '\n'.join(str(n) for n in range(40_000))
tell('pipeline', output('sh', '-c', 'cat | sed s/9/x/ | sort -r | head -1', input=many).strip())
tell('written', output('sh', '-c', 'seq 100000 | tail -1').strip())


async def talk():
    command = ['sh', '-c', 'sleep 1; cat']
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    told, _ = await child.communicate(b'in')
    tell('asyncio', told, child.returncode)

asyncio.run(talk())

libc = ctypes.CDLL(None)
libc.popen.restype = libc.fgets.restype = ctypes.c_void_p
line = ctypes.create_string_buffer(100)
stream = ctypes.c_void_p(libc.popen(b'sleep 1; echo of the shell; exit 4', b'r'))
libc.fgets(line, 100, stream)
tell('popen', line.value, libc.pclose(stream) >> 8)
tell('system', os.system('sleep 1; exit 6') >> 8)

reader, writer = os.pipe()
child = os.fork()
if child == 0:
    time.sleep(1)
    os.write(writer, b'forked %d' % os.getppid())
    time.sleep(1)
    os._exit(7)
tell('fork', os.read(reader, 20) == b'forked %d' % os.getpid())
tell('ended', os.waitpid(child, os.WNOHANG), os.waitpid(child, 0)[1] >> 8)

# An orphan, whose parent ends at once; and a pipe that a program closes as it begins.
child = os.fork()
if child == 0:
    if os.fork() == 0:
        time.sleep(1)
        tell('orphan')
        sys.stdout.flush()
        os._exit(0)
    os._exit(0)
os.waitpid(child, 0)
time.sleep(1.5)
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    time.sleep(0.5)
    os.execvp('sleep', ['sleep', '5'])
os.close(writer)
tell('closed', os.read(reader, 9))
os.kill(child, signal.SIGKILL)
tell('killed', os.waitpid(child, 0)[1])

early, late = [subprocess.Popen(['sleep', seconds]).pid for seconds in ('0.2', '0.1')]
time.sleep(0.5)
tell('first', os.waitpid(-1, 0)[0] == late, os.waitpid(-1, 0)[0] == early)

group = subprocess.Popen(['sh', '-c', 'sleep 50 & sleep 60'], start_new_session=True)
time.sleep(0.5)
os.killpg(os.getpgid(group.pid), signal.SIGTERM)
tell('group', group.wait(), os.getpgid(group.pid) if group.poll() is None else None)

calls = []
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(calls.append)
libc.signal(signal.SIGCHLD, handler)
subprocess.run(['sleep', '0.5'])
tell('calls', calls)
signal.signal(signal.SIGCHLD, lambda *_: tell('signal'))
child = os.posix_spawn('/bin/sleep', ['sleep', '1'], os.environ)
time.sleep(3)
tell('spawned', os.waitpid(-1, 0) == (child, 0))
tell('number', child)
try:
    os.waitpid(-1, 0)
except ChildProcessError as error:
    tell(error.strerror)
try:
    subprocess.run(['/no/such/program'])
except FileNotFoundError as error:
    tell(error.strerror)
subprocess.Popen(['sleep', '98765'])
