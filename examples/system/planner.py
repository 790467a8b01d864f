"""Asks for the map before each plan, and ends after 20 plans with what it has seen."""
import rclpy
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from std_msgs.msg import String
from std_srvs.srv import Trigger

rclpy.init()
node = Node('planner')
fused = []
node.create_subscription(String, 'fused', lambda m: fused.append(m.data), qos_profile_sensor_data)
client = node.create_client(Trigger, 'map')
while not client.wait_for_service(timeout_sec=0.25):
    node.get_logger().info('waits for the map')
for n in range(1, 21):
    future = client.call_async(Trigger.Request())
    rclpy.spin_until_future_complete(node, future)
    node.get_logger().info(f'plan {n}: map {future.result().message}, fused {fused[-1:]}')
    end = node.get_clock().now().nanoseconds + 100_000_000
    while node.get_clock().now().nanoseconds < end:
        rclpy.spin_once(node, timeout_sec=0.01)
node.destroy_node()
rclpy.shutdown()
