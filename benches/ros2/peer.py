"""The contenders in rclpy, for ros2-bench: `peer.py hop` and `peer.py idle`.

They do what the others do, and say it in the same words: figures as JSON, or "ready"."""

import json
import resource
import sys
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import String

TO_SKIP, COUNT = 300, 3000


def cpu_s():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def hop():
    executor = SingleThreadedExecutor()
    talker, listener = rclpy.create_node("talker"), rclpy.create_node("listener")
    executor.add_node(talker)
    executor.add_node(listener)
    out = talker.create_publisher(PointCloud2, "/cloud", 10)
    latencies, began, seen = [], [], [0]

    def publish():
        cloud = PointCloud2(data=bytes(4096))
        cloud.header.frame_id = "lidar"
        now = time.monotonic_ns()
        cloud.header.stamp.sec, cloud.header.stamp.nanosec = divmod(now, 1_000_000_000)
        out.publish(cloud)

    def arrived(cloud):
        stamp = cloud.header.stamp
        latency = time.monotonic_ns() - (stamp.sec * 1_000_000_000 + stamp.nanosec)
        seen[0] += 1
        if seen[0] <= TO_SKIP:
            return
        if not began:
            began.extend([cpu_s(), time.monotonic()])
        latencies.append(latency)

    talker.create_timer(0.001, publish)
    listener.create_subscription(PointCloud2, "/cloud", arrived, 10)
    while len(latencies) < COUNT:
        executor.spin_once()
    cpu = 100 * (cpu_s() - began[0]) / (time.monotonic() - began[1])
    us = sorted(latency / 1e3 for latency in latencies)
    print(json.dumps({"mean us": sum(us) / len(us), "p50 us": us[len(us) // 2],
                      "p99 us": us[-(-len(us) * 99 // 100) - 1], "max us": us[-1], "CPU %": cpu}))


def idle():
    executor = SingleThreadedExecutor()
    for number in range(20):
        node = rclpy.create_node(f"node_{number}")
        for topic in range(number, 50, 20):
            node.create_subscription(String, f"/topic_{topic}", lambda message: None, 10)
        executor.add_node(node)
    print("ready", flush=True)
    executor.spin()


rclpy.init()
{"hop": hop, "idle": idle}[sys.argv[1]]()
