"""A node that computes for each message, and sends what it has computed: `busy.py NAME SECONDS TOPIC.. -- TOPIC..`.

The first topics are subscribed to, the others published. Without the first ones it sends by a timer.
"""
import hashlib
import os
import sys
import time

import rclpy
from rclpy.node import Node
from std_msgs.msg import String

name, seconds = sys.argv[1:3]
cut = sys.argv.index('--')
state = name
rclpy.init()
node = Node(name)
publishers = [node.create_publisher(String, topic, 10) for topic in sys.argv[cut + 1:]]


def on_message(message):
    global state
    rounds = 300 + os.getpid() % 7 * 100
    for _ in range(rounds * int(seconds)):
        state = hashlib.sha256((state + message.data).encode()).hexdigest()
    print(node.get_clock().now().nanoseconds, message.data[:9], state[:9])
    if message.data[-1:] in '01':
        time.sleep(0.001)  # the rest comes later
    for publisher in publishers:
        publisher.publish(String(data=state))


for topic in sys.argv[3:cut]:
    node.create_subscription(String, topic, on_message, 10)
if cut == 3:
    node.create_timer(0.01, lambda: on_message(String(data='timer')))
rclpy.spin(node)
