"""A camera or a lidar: numbered messages at 10 Hz, on the topic of its name."""
import sys

import rclpy
from rclpy.node import Node
from std_msgs.msg import UInt64


class Sensor(Node):
    def __init__(self, name):
        super().__init__(name)
        self.n = 0
        self.out = self.create_publisher(UInt64, name, 10)
        self.create_timer(0.1, self.tick)

    def tick(self):
        self.n += 1
        self.out.publish(UInt64(data=self.n))


rclpy.init()
rclpy.spin(Sensor(sys.argv[1]))
