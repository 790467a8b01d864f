"""An operator in rclpy for `ros2_camera`: listens, lists and sets a parameter, calls a service.

    RINGSPIN_MIDDLEWARE=ros2 cargo run --features ros2 --example ros2_camera &
    ${RINGSPIN_ROS_PYTHON:-python3} examples/ros2_camera.py

RINGSPIN_ROS_PYTHON names the Python that has rclpy; `eval "$(scripts/ros2-env)"` sets it. With an installed ROS 2 that
is sourced it is python3.

Ends with 0 if everything answers as it should.
"""

import rclpy
from rcl_interfaces.srv import ListParameters, SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import Image
from std_msgs.msg import String
from std_srvs.srv import SetBool

LONG = 60.0  # seconds; nothing here takes as long

rclpy.init()
node = rclpy.create_node("operator")
images, commands = [], []
latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
node.create_subscription(Image, "/image", images.append, qos_profile_sensor_data)
node.create_subscription(String, "/command", lambda message: commands.append(message.data), latched)


def wait(what, ready):
    """Spins until `ready`."""
    end = node.get_clock().now().nanoseconds + LONG * 1e9
    while not ready():
        assert node.get_clock().now().nanoseconds < end, what
        rclpy.spin_once(node, timeout_sec=0.5)


def call(kind, name, request):
    """The response of service `name`."""
    client = node.create_client(kind, name)
    assert client.wait_for_service(LONG), name
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=LONG)
    assert future.result() is not None, name
    return future.result()


def set_threshold(value):
    """What the pilot says to another threshold."""
    parameter = Parameter("threshold", value=value).to_parameter_msg()
    request = SetParameters.Request(parameters=[parameter])
    return call(SetParameters, "/pilot/set_parameters", request).results[0]


wait("images", lambda: len(images) > 3)
assert (images[0].width, images[0].height, images[0].encoding) == (64, 48, "mono8")
listed = call(ListParameters, "/pilot/list_parameters", ListParameters.Request())
assert "threshold" in listed.result.names, listed
assert set_threshold(0).successful
wait("to drive", lambda: commands and commands[-1] == "drive")
refused = set_threshold(300)
assert not refused.successful and "0 to 255" in refused.reason, refused
assert call(SetBool, "/stop", SetBool.Request(data=True)).success
wait("to halt", lambda: commands[-1] == "halt")
print(f"{len(images)} images; the pilot drives, refuses 300 and stops")
rclpy.shutdown()
