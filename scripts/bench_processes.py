"""Runs programs in a deterministic run and over Fast DDS, in turns, and writes a table: see `bench-processes`."""
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TICKS = os.sysconf('SC_CLK_TCK')
RINGSPIN, RMW, EVENTS = sys.argv[1:4]
TURNS = 3

PING = '''
import sys, rclpy
from rclpy.node import Node
from std_msgs.msg import UInt64
is_ping, count = sys.argv[1] == 'ping', int(sys.argv[2])
rclpy.init()
node = Node(sys.argv[1])
out = node.create_publisher(UInt64, 'ping' if is_ping else 'pong', 10)
last = 0
def on(message):
    global last
    last = message.data
    if not is_ping or last < count:
        out.publish(UInt64(data=last + is_ping))
node.create_subscription(UInt64, 'pong' if is_ping else 'ping', on, 10)
def begin():
    if node.count_subscribers('ping'):
        timer.cancel()
        out.publish(UInt64())
if is_ping:
    timer = node.create_timer(0.1, begin)
while not is_ping or last < count:
    rclpy.spin_once(node)
'''


def cpu_of(number):
    """The processor time of a process so far, in seconds."""
    try:
        fields = Path(f'/proc/{number}/stat').read_text().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except OSError:
        return 0


def memory_of(numbers):
    """The memory of processes, what they share counted once, in MiB."""
    total = 0
    for number in numbers:
        try:
            lines = Path(f'/proc/{number}/smaps_rollup').read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith('Pss:'))
        except (OSError, StopIteration):
            pass
    return total / 1024


def children_of(number):
    try:
        return Path(f'/proc/{number}/task/{number}/children').read_text().split()
    except OSError:
        return []


def in_a_run(commands, seconds=1_000_000):
    """Wall time, processor time of all, of the coordinator, the most memory. The first process ends it, or the time."""
    system = {'for': f'{seconds} s', 'processes': [{'name': f'p{n}', 'command': c} for n, c in enumerate(commands)]}
    if seconds == 1_000_000:
        system['end'] = 'p0'
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as file:
        file.write(json.dumps(system))
        file.flush()
        return measure([RINGSPIN, 'run', '--quiet', file.name])


def measure(words):
    begun = time.monotonic()
    run = subprocess.Popen(words, env={**os.environ, 'RINGSPIN_RMW': RMW}, stderr=subprocess.DEVNULL)
    own, memory = 0, 0
    while True:
        number, status, usage = os.wait4(run.pid, os.WNOHANG)
        if number:
            break
        own = max(own, cpu_of(run.pid))
        memory = max(memory, memory_of(children_of(run.pid)))
        time.sleep(0.1)
    assert status == 0, words
    return time.monotonic() - begun, usage.ru_utime + usage.ru_stime, own, memory


def over_dds(commands, seconds=None):
    """Wall time and processor time of all; the first one ends, or so many seconds."""
    begun = time.monotonic()
    output = subprocess.DEVNULL
    started = [subprocess.Popen(command, stdout=output, stderr=output) for command in commands]
    usages = []
    if seconds:
        time.sleep(seconds)
        memory = memory_of([one.pid for one in started])
    else:
        _, status, usage = os.wait4(started[0].pid, 0)
        assert status == 0, commands
        usages.append(usage)
        memory = 0
    wall = time.monotonic() - begun
    for one in started[len(usages):]:
        one.kill()
        usages.append(os.wait4(one.pid, 0)[2])
    return wall, sum(usage.ru_utime + usage.ru_stime for usage in usages), 0, memory


def pair(name, ping, pong, messages):
    ours = [in_a_run([ping, pong])]
    dds = [over_dds([ping, pong])]
    for _ in range(TURNS - 1):
        ours.append(in_a_run([ping, pong]))
        dds.append(over_dds([ping, pong]))
    wall, cpu, own, _ = min(ours)
    dds_wall, dds_cpu, *_ = min(dds)
    print(f'| {name} | {messages / wall:,.0f} | {messages / dds_wall:,.0f} | {cpu / messages * 1e6:.0f} '
          f'| {dds_cpu / messages * 1e6:.0f} | {own / cpu:.0%} |', flush=True)


def main():
    print('| pair | messages/s in a run | over Fast DDS | us of all processors a message | Fast DDS | of it the coordinator |')
    print('|---|--:|--:|--:|--:|--:|')
    for name, count, more in [('C++, one under way', 20_000, []), ('C++, 100 under way', 50_000, ['100']),
                              ('C++, 1 MiB, one under way', 1_000, ['1', str(1 << 20)])]:
        pair(name, [EVENTS, 'ping', str(count), *more], [EVENTS, 'pong'], 2 * count)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / 'ping.py'
        script.write_text(PING)
        command = ['python3', str(script)]
        pair('rclpy, one under way', [*command, 'ping', '5000'], [*command, 'pong', '5000'], 10_000)

    sensor = str(ROOT / 'examples/system/sensor.py')
    many = [['python3', sensor, f'sensor_{n}'] for n in range(50)]
    seconds = 10
    wall, cpu, own, memory = in_a_run(many, seconds)
    start, *_ = in_a_run(many, '0.000001')
    _, dds_cpu, _, dds_memory = over_dds(many, seconds)
    print(f'\n50 rclpy processes, each with 10 messages a second, for {seconds} s:\n')
    print('| | in a run | over Fast DDS |\n|---|--:|--:|')
    print(f'| real time, s | {wall:.1f}, of it the start {start:.1f} | {seconds} |')
    print(f'| of all processors, s | {cpu:.1f}, of it the coordinator {own:.1f} | {dds_cpu:.1f} |')
    print(f'| memory of the processes, MiB | {memory:.0f} | {dds_memory:.0f} |')


main()
