"""Uses all that the server offers, prints what it gets, and ends."""
import rclpy
from rclpy.action import ActionClient
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from test_msgs.action import Fibonacci
from test_msgs.srv import BasicTypes

rclpy.init()
node = Node('client')
late, heard = QoSProfile(depth=9, durability=DurabilityPolicy.TRANSIENT_LOCAL), []
node.create_subscription(String, 'kept', lambda message: heard.append(message.data), late)
events = SubscriptionEventCallbacks(
    incompatible_qos=lambda status: print('incompatible:', status.total_count, status.last_policy_kind),
    matched=lambda status: print('matched:', status.current_count))
node.create_subscription(String, 'best_effort', print, 1, event_callbacks=events)
node.create_subscription(String, 'kept', print, 1, event_callbacks=events)
service = node.create_client(BasicTypes, 'add')
assert service.wait_for_service(timeout_sec=5)
future = service.call_async(BasicTypes.Request(int32_value=6))
rclpy.spin_until_future_complete(node, future)
print('late subscription:', heard)
print('service:', future.result().int32_value)

action = ActionClient(node, Fibonacci, 'fibonacci')
assert action.wait_for_server(timeout_sec=5)
goal = action.send_goal_async(
    Fibonacci.Goal(order=5),
    feedback_callback=lambda message: print('feedback:', list(message.feedback.sequence)))
rclpy.spin_until_future_complete(node, goal)
result = goal.result().get_result_async()
rclpy.spin_until_future_complete(node, result)
print('result:', list(result.result().result.sequence))

print('nodes:', sorted(node.get_node_names()))
(info,) = node.get_publishers_info_by_topic('/kept')
print('reliable:', info.qos_profile.reliability.name)
