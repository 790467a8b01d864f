"""A node of RSLCPP's determinism benchmark, each in its own process: a, b, c, d, or the conductor.

A callback hashes its id, its time and its message into the state of its node, and sends the state
on. So the state has the order of all callbacks. Before each callback a process computes for a
random real time, which changes nothing.
"""
import sys
import time

import rclpy
from rclpy.node import Node
from std_msgs.msg import String, UInt64
from std_srvs.srv import Trigger

BITS = (1 << 64) - 1
INITIAL = {'a': 55272744, 'b': 34983402, 'c': 87997653, 'd': 11380831}


def split_mix(x):
    x = (x + 0x9e3779b97f4a7c15) & BITS
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & BITS
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & BITS
    return x ^ x >> 31


def combine(one, two):
    k = 0x9ddfea08eb382d69
    a = (one ^ two) * k & BITS
    a ^= a >> 47
    b = (two ^ a) * k & BITS
    b ^= b >> 47
    return split_mix(b * k & BITS)


class Member(Node):
    def __init__(self, name):
        super().__init__(name)
        self.state, self.due = INITIAL[name], set()
        self.load = self.declare_parameter('load', 0).value
        topics = ('t1', 't2', 't3', 't4', 't5')
        self.out = {topic: self.create_publisher(UInt64, topic, 1) for topic in topics}
        self.report = self.create_publisher(String, 'report', 10)
        self.timers_of = {
            'a': {100: lambda: self.send('t1', 11162456753),
                  50: lambda: self.send('t2', 11151784617)},
            'b': {40: lambda: self.send('t5', 11111071799)},
        }.get(name, {})
        self.create_subscription(UInt64, 'cue', self.on_cue, 10)
        if name == 'a':
            self.subscribe('t5', lambda m: self.update(22255799981, m.data))
        elif name == 'b':
            self.subscribe('t2', lambda m: self.send('t3', 22229447589, m.data))
        elif name == 'c':
            self.client = self.create_client(Trigger, 's1')
            self.subscribe('t1', self.ask)
            self.subscribe('t3', lambda m: self.send('t4', 22227118361, m.data))
        else:
            self.create_service(Trigger, 's1', self.answer)
            self.subscribe('t4', lambda m: self.send('t5', 2227672095, m.data))

    def subscribe(self, topic, callback):
        self.create_subscription(UInt64, topic, callback, 1)

    def update(self, number, *payload):
        if self.load:  # each reading of this file is another number, in each run
            with open('/proc/sys/kernel/random/uuid') as random:
                for _ in range(int(random.read(4), 16) % self.load):
                    pass
        # The instant: timers of one instant have their order by microseconds.
        now = self.get_clock().now().nanoseconds // 1_000_000 * 1_000_000
        for part in (number, now, *payload):
            self.state = combine(self.state, part)

    def send(self, topic, number, *payload):
        self.update(number, *payload)
        self.out[topic].publish(UInt64(data=self.state))

    def ask(self, message):
        self.update(22295316797, message.data)
        future = self.client.call_async(Trigger.Request())
        future.add_done_callback(lambda f: self.update(44442759714, int(f.result().message)))

    def answer(self, request, response):
        self.update(33396054244)
        response.success, response.message = True, str(self.state)
        return response

    def on_cue(self, cue):
        """Calls an overdue timer; starts it at its second cue; reports at the end."""
        period = cue.data
        if period == 0:
            self.report.publish(String(data=f'{self.get_name()} {self.state}'))
        elif period in self.timers_of and period not in self.due:
            self.due.add(period)
            self.timers_of[period]()
        elif period in self.timers_of:
            self.create_timer(period / 1000, self.timers_of[period])


class Conductor(Node):
    """Starts at 10 s, as the clock of the benchmark, and ends `seconds` later.

    At the jump to 10 s all timers are overdue, in the order of their deadlines; from then on those
    of one instant come in the order of their creation.
    """

    def __init__(self):
        super().__init__('conductor')
        cues = self.create_publisher(UInt64, 'cue', 10)
        states = {}
        self.create_subscription(String, 'report', lambda m: states.update([m.data.split()]), 10)
        for period in (40, 50, 100, 100, 50, 40):
            cues.publish(UInt64(data=period))
            time.sleep(1e-6)
        time.sleep(self.declare_parameter('seconds', 100).value + 0.005)
        cues.publish(UInt64(data=0))
        while len(states) < len(INITIAL):
            rclpy.spin_once(self)
        result = 505510631
        for name in INITIAL:
            print(name, states[name])
            result = combine(result, int(states[name]))
        print('final', result)


rclpy.init()
if sys.argv[1] == 'conductor':
    Conductor()
else:
    rclpy.spin(Member(sys.argv[1]))
