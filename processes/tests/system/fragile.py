"""Nodes that a fault breaks: a client that does not ask again, and a counter that misses no message."""
import sys
import time

import rclpy
from rclpy.node import Node
from std_msgs.msg import UInt64
from std_srvs.srv import Trigger

rclpy.init()
node = Node(sys.argv[1])
if sys.argv[1] == 'server':

    def on_request(_, response):
        time.sleep(0.05)
        response.success = True
        return response

    node.create_service(Trigger, 'answer', on_request)
    rclpy.spin(node)
elif sys.argv[1] == 'client':
    client = node.create_client(Trigger, 'answer')
    for _ in range(5):
        client.wait_for_service()
        future = client.call_async(Trigger.Request())
        rclpy.spin_until_future_complete(node, future, timeout_sec=3.0)
        assert future.done(), 'no response'
        time.sleep(0.1)
else:
    expected = 1

    def on_message(message):
        global expected
        assert message.data == expected, 'a message is missing'
        expected += 1

    node.create_subscription(UInt64, 'lidar', on_message, 10)
    rclpy.spin(node)
