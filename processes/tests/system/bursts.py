"""A talker that sends 300 messages at once, and a listener that sometimes prints, answers or takes time."""
import sys
import time

import rclpy
from rclpy.node import Node
from std_msgs.msg import UInt64


class Talker(Node):
    def __init__(self):
        super().__init__('talker')
        self.out = self.create_publisher(UInt64, 'numbers', 1000)
        self.create_subscription(UInt64, 'answers', lambda answer: print('answer', answer.data), 1000)
        self.create_timer(0.1, self.tick)

    def tick(self):
        for n in range(300):
            self.out.publish(UInt64(data=n))


class Listener(Node):
    def __init__(self):
        super().__init__('listener')
        self.out = self.create_publisher(UInt64, 'answers', 1000)
        self.create_subscription(UInt64, 'numbers', self.on_number, 1000)

    def on_number(self, number):
        if number.data % 70 == 3:
            print('number', number.data)
        if number.data % 90 == 5:
            for _ in range(1100):
                time.monotonic()  # so often at one instant, it takes time
        if number.data % 50 == 7:
            self.out.publish(number)


rclpy.init()
rclpy.spin(Talker() if sys.argv[1] == 'talker' else Listener())
