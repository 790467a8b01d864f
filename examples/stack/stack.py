"""A small driving stack and its simulator: python3 stack.py NODE, in lower case.

    Simulator -> /odom, /tf, /pedestrian -> Camera, Lidar -> detectors (in ../ros2_detectors.rs)
              <- /cmd_vel <- Planner <- /track <- Tracker <- /obstacles <- Fusion <-+
"""
import math
import random
import sys
import time

import rclpy
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PointStamped, TransformStamped, Twist
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from rclpy.action import ActionClient, ActionServer
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image, LaserScan
from std_srvs.srv import SetBool
from test_msgs.action import Fibonacci


class Simulator(Node):
    """A vehicle that follows its command along x, and a pedestrian who crosses at 12 m."""

    def __init__(self):
        super().__init__('simulator')
        self.x, self.v, self.command, self.steps = 0.0, 0.0, 0.0, 0
        self.odom = self.create_publisher(Odometry, 'odom', 10)
        self.tf = self.create_publisher(TransformStamped, '/tf', 10)
        self.pedestrian = self.create_publisher(PointStamped, 'pedestrian', 10)
        self.create_subscription(Twist, 'cmd_vel', self.on_command, 10)
        self.create_timer(0.05, self.step)

    def on_command(self, command):
        self.command = command.linear.x

    def step(self):
        self.v += max(-0.2, min(0.1, self.command - self.v))  # 4 m/s2 down, 2 m/s2 up
        self.x += 0.05 * self.v
        self.steps += 1
        odom, tf, pedestrian = Odometry(), TransformStamped(), PointStamped()
        for message in (odom, tf, pedestrian):
            message.header.stamp = self.get_clock().now().to_msg()
            message.header.frame_id = 'map'
        odom.pose.pose.position.x, odom.twist.twist.linear.x = self.x, self.v
        tf.child_frame_id, tf.transform.translation.x = 'vehicle', self.x
        pedestrian.point.x, pedestrian.point.y = 12.0, -5.6 + 0.04 * self.steps
        self.odom.publish(odom)
        self.tf.publish(tf)
        self.pedestrian.publish(pedestrian)


class Sensor(Node):
    """Sees the pedestrian from the vehicle, at 10 Hz."""

    def __init__(self, name, kind, topic):
        super().__init__(name)
        self.x, self.pedestrian = 0.0, None
        self.out = self.create_publisher(kind, topic, qos_profile_sensor_data)
        self.create_subscription(TransformStamped, '/tf', self.on_transform, 10)
        self.create_subscription(PointStamped, 'pedestrian', self.on_pedestrian, 10)
        self.create_timer(0.1, self.tick)

    def on_transform(self, tf):
        self.x = tf.transform.translation.x

    def on_pedestrian(self, message):
        self.pedestrian = message.point

    def tick(self):
        if self.pedestrian:
            x, y = self.pedestrian.x - self.x, self.pedestrian.y
            message = self.see(math.degrees(math.atan2(y, x)), math.hypot(x, y))
            message.header.stamp = self.get_clock().now().to_msg()
            message.header.frame_id = 'vehicle'
            self.out.publish(message)


class Camera(Sensor):
    """A row of pixels, two for each degree from -45."""

    def __init__(self):
        super().__init__('camera', Image, 'image')

    def see(self, bearing, distance):
        pixels = [random.randrange(100) for _ in range(180)]
        if -45 <= bearing < 45:
            pixels[int(2 * (bearing + 45))] = 255
        return Image(height=1, width=180, step=180, encoding='mono8', data=pixels)


class Lidar(Sensor):
    """A ray for each degree from -45."""

    def __init__(self):
        super().__init__('lidar', LaserScan, 'scan')

    def see(self, bearing, distance):
        ranges = [math.inf] * 90
        if -45 <= bearing < 45:
            ranges[int(bearing + 45)] = distance + random.gauss(0, 0.05)
        angle, step = math.radians(-45), math.radians(1)
        return LaserScan(angle_min=angle, angle_increment=step, ranges=ranges)


class Fusion(Node):
    """Joins bearings of the camera with distances of the lidar, on threads, in a random time."""

    def __init__(self):
        super().__init__('fusion')
        self.bearing, self.x = None, 0.0
        self.out = self.create_publisher(PointStamped, 'obstacles', 10)
        group = ReentrantCallbackGroup()
        for kind, topic, callback in (
                (PointStamped, 'camera/bearings', self.on_bearing),
                (PointStamped, 'lidar/distances', self.on_distance),
                (TransformStamped, '/tf', self.on_transform)):
            self.create_subscription(kind, topic, callback, 10, callback_group=group)

    def on_bearing(self, message):
        self.bearing = message.point.x

    def on_transform(self, tf):
        self.x = tf.transform.translation.x

    def on_distance(self, message):
        if self.bearing is not None:
            x, bearing, distance = self.x, self.bearing, message.point.x
            time.sleep(0.02 * random.random())
            message.header.frame_id = 'map'
            message.point.x = x + distance * math.cos(bearing)
            message.point.y = distance * math.sin(bearing)
            self.out.publish(message)


class Tracker(LifecycleNode):
    """Position and speed of the obstacle, at 10 Hz while it is active."""

    def __init__(self):
        super().__init__('tracker')
        self.seen, self.last = None, None

    def on_configure(self, state):
        self.out = self.create_lifecycle_publisher(Odometry, 'track', 10)
        self.create_subscription(PointStamped, 'obstacles', self.on_obstacle, 10)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state):
        self.create_timer(0.1, self.tick)
        return super().on_activate(state)

    def on_obstacle(self, message):
        self.seen = message

    def tick(self):
        if self.seen:
            track = Odometry(header=self.seen.header)
            track.pose.pose.position = self.seen.point
            if self.last:
                track.twist.twist.linear.y = 10 * (self.seen.point.y - self.last.y)
            self.last = self.seen.point
            self.out.publish(track)


class Planner(Node):
    """Drives so many metres, at the speed of its parameter, and waits for obstacles and pauses."""

    def __init__(self):
        super().__init__('planner')
        self.declare_parameter('speed', 0.5)
        self.x, self.track, self.is_paused = 0.0, None, False
        self.out = self.create_publisher(Twist, 'cmd_vel', 10)
        group = ReentrantCallbackGroup()
        self.create_subscription(Odometry, 'odom', self.on_odom, 10, callback_group=group)
        self.create_subscription(Odometry, 'track', self.on_track, 10, callback_group=group)
        self.create_service(SetBool, 'pause', self.pause, callback_group=group)
        self.server = ActionServer(self, Fibonacci, 'drive', self.drive, callback_group=group)

    def on_odom(self, odom):
        self.x = odom.pose.pose.position.x

    def on_track(self, track):
        self.track = track

    def pause(self, request, response):
        self.is_paused, response.success = request.data, True
        return response

    def is_free(self):
        if self.track is None:
            return True
        ahead, y = self.track.pose.pose.position.x - self.x, self.track.pose.pose.position.y
        side = [y, y + self.track.twist.twist.linear.y]  # now, and in a second
        return not (0 < ahead < 5 and min(side) < 1.5 and max(side) > -1.5)

    def drive(self, goal):
        feedback = Fibonacci.Feedback()
        while self.x < goal.request.order:
            command = Twist()
            if self.is_free() and not self.is_paused:
                command.linear.x = self.get_parameter('speed').value
            self.out.publish(command)
            if int(self.x) not in feedback.sequence:
                feedback.sequence.append(int(self.x))
                goal.publish_feedback(feedback)
            time.sleep(0.1)
        self.out.publish(Twist())
        goal.succeed()
        return Fibonacci.Result(sequence=feedback.sequence)


class Mission(Node):
    """Activates the tracker, sets the speed, and sends the vehicle over 20 m, with a pause."""

    def __init__(self):
        super().__init__('mission')
        self.x, self.closest, self.metre = 0.0, math.inf, -1
        self.create_subscription(Odometry, 'odom', self.on_odom, 10)
        self.create_subscription(PointStamped, 'pedestrian', self.on_pedestrian, 10)

    def on_odom(self, odom):
        self.x = odom.pose.pose.position.x

    def on_pedestrian(self, message):
        self.closest = min(self.closest, math.hypot(message.point.x - self.x, message.point.y))

    def on_feedback(self, message):
        self.metre = message.feedback.sequence[-1]

    def call(self, kind, name, **request):
        client = self.create_client(kind, name)
        client.wait_for_service()
        return self.wait(client.call_async(kind.Request(**request)))

    def wait(self, future):
        rclpy.spin_until_future_complete(self, future)
        return future.result()

    def run(self):
        for transition in (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE):
            change = Transition(id=transition)
            response = self.call(ChangeState, 'tracker/change_state', transition=change)
            print('tracker:', response.success)
        parameters = AsyncParameterClient(self, 'planner')
        parameters.wait_for_services()
        set_speed = self.wait(parameters.set_parameters([Parameter('speed', value=2.0)]))
        print('speed:', set_speed.results[0].successful)
        action = ActionClient(self, Fibonacci, 'drive')
        action.wait_for_server()
        goal = self.wait(action.send_goal_async(Fibonacci.Goal(order=20), self.on_feedback))
        while self.metre < 16:
            rclpy.spin_once(self)
        print('pause:', self.call(SetBool, 'pause', data=True).success)
        time.sleep(1)
        self.call(SetBool, 'pause', data=False)
        result = self.wait(goal.get_result_async())
        print('drive:', result.status == GoalStatus.STATUS_SUCCEEDED, list(result.result.sequence))
        print(f'at {self.x:.1f} m; the pedestrian was never closer than {self.closest:.1f} m')


rclpy.init()
nodes = (Simulator, Camera, Lidar, Fusion, Tracker, Planner, Mission)
node = {kind.__name__.lower(): kind for kind in nodes}[sys.argv[1]]()
if isinstance(node, Mission):
    node.run()
else:
    executor = MultiThreadedExecutor(num_threads=3)
    executor.add_node(node)
    executor.spin()
