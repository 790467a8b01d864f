"""Offers a topic with late messages, a service and an action."""
import time

import rclpy
from rclpy.action import ActionServer
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from test_msgs.action import Fibonacci
from test_msgs.srv import BasicTypes

rclpy.init()
node = Node('server')
late = QoSProfile(depth=2, durability=DurabilityPolicy.TRANSIENT_LOCAL)
kept = node.create_publisher(String, 'kept', late)
node.create_publisher(String, 'best_effort', rclpy.qos.qos_profile_sensor_data)
for n in range(1, 4):
    kept.publish(String(data=f'kept {n}'))


def answer(request, response):
    response.int32_value = request.int32_value + 1
    return response


def fibonacci(goal):
    feedback = Fibonacci.Feedback(sequence=[0, 1])
    for _ in range(goal.request.order - 1):
        time.sleep(0.1)
        feedback.sequence.append(feedback.sequence[-1] + feedback.sequence[-2])
        goal.publish_feedback(feedback)
    goal.succeed()
    return Fibonacci.Result(sequence=feedback.sequence)


node.create_service(BasicTypes, 'add', answer)
action = ActionServer(node, Fibonacci, 'fibonacci', fibonacci)
rclpy.spin(node)
