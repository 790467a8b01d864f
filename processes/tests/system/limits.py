"""Deadlines, liveliness and lost messages: `limits.py talker` and `limits.py listener`."""

import sys

import rclpy
from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.qos import LivelinessPolicy, QoSProfile
from std_msgs.msg import UInt64

PAUSE = range(4, 10)  # ticks of 50 ms without a message

rclpy.init()
node = rclpy.create_node(sys.argv[1])
qos = QoSProfile(
    depth=10,
    deadline=Duration(nanoseconds=100_000_000),
    liveliness=LivelinessPolicy.MANUAL_BY_TOPIC,
    liveliness_lease_duration=Duration(nanoseconds=150_000_000),
)


def show(name):
    """A callback that prints the fields of an event."""

    def callback(event):
        values = [getattr(event, field) for field in dir(event) if field.endswith(("count", "change"))]
        print(name, *values)

    return callback


if sys.argv[1] == "talker":
    events = PublisherEventCallbacks(
        deadline=show("deadline"), liveliness=show("liveliness"), use_default_callbacks=False
    )
    publisher = node.create_publisher(UInt64, "/ticks", qos, event_callbacks=events)
    tick = 0

    def on_timer():
        """Publishes, but for the pause."""
        global tick
        tick += 1
        if tick not in PAUSE:
            publisher.publish(UInt64(data=tick))
        if tick == 9:
            publisher.assert_liveliness()

    node.create_timer(0.05, on_timer)
else:
    events = SubscriptionEventCallbacks(
        deadline=show("deadline"),
        liveliness=show("liveliness"),
        message_lost=show("lost"),
        use_default_callbacks=False,
    )
    node.create_subscription(
        UInt64, "/ticks", lambda message: print("got", message.data), qos, event_callbacks=events
    )
rclpy.spin(node)
