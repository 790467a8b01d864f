"""Prints for each message of a lidar how long after its timer it came."""
import rclpy
from rclpy.node import Node
from std_msgs.msg import UInt64


class Listener(Node):
    def __init__(self):
        super().__init__('listener')
        self.create_subscription(UInt64, 'lidar', self.on_message, 10)

    def on_message(self, message):
        milliseconds = self.get_clock().now().nanoseconds // 1_000_000 % 100
        print(f'message {message.data}: {milliseconds} ms after its timer')


rclpy.init()
rclpy.spin(Listener())
