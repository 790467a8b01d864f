"""Counts the speeds of another process."""

import rclpy
from geometry_msgs.msg import Twist

rclpy.init()
node = rclpy.create_node("watch")
speeds = 0


def count(_):
    """A speed came."""
    global speeds
    speeds += 1
    if speeds % 20 == 0:
        print(f"{speeds} speeds of {node.count_publishers('/cmd_vel')} publisher")


node.create_subscription(Twist, "/cmd_vel", count, 10)
rclpy.spin(node)
