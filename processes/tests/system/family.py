"""A node, and one of a child process that is started in one of three ways."""
import multiprocessing
import subprocess
import sys
import time

import rclpy
from std_msgs.msg import String


def talk(name):
    rclpy.init()
    node = rclpy.create_node(name)
    publisher = node.create_publisher(String, 'said', 10)
    heard = []
    def hear(message):
        heard.append(message.data)
        print(name, 'heard', message.data, 'at', node.get_clock().now().nanoseconds / 1e9)
    node.create_subscription(String, 'said', hear, 10)
    count = 0
    def say():
        nonlocal count
        count += 1
        publisher.publish(String(data=f'{name} {count}'))
    node.create_timer(0.1, say)
    while count < 3:
        rclpy.spin_once(node)
    print(name, 'nodes', sorted(node.get_node_names()))
    while count < 5:
        rclpy.spin_once(node)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    how = sys.argv[1]
    if how == 'alone':
        talk(sys.argv[2])
        sys.exit()
    if how == 'program':
        child = subprocess.Popen([sys.executable, __file__, 'alone', 'child'])
    else:
        multiprocessing.set_start_method(how)
        child = multiprocessing.Process(target=talk, args=['child'])
        child.start()
    time.sleep(0.05)
    talk('parent')
    print('ended', child.wait() if how == 'program' else child.join())
