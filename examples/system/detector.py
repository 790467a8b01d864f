"""Detects something in each image, on threads, and takes a random time for it."""
import random
import time

import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import UInt64


class Detector(Node):
    def __init__(self):
        super().__init__('detector')
        group = ReentrantCallbackGroup()
        self.out = self.create_publisher(UInt64, 'detections', 10)
        self.create_subscription(UInt64, 'camera', self.detect, 10, callback_group=group)

    def detect(self, image):
        time.sleep(0.05 * random.random())
        self.out.publish(image)


rclpy.init()
executor = MultiThreadedExecutor(num_threads=3)
executor.add_node(Detector())
executor.spin()
