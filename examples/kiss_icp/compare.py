"""Compares a replay of LiDAR odometry with PyPI's kiss-icp, and its error with that of PyPI's evo.

DRIVE REPLAY REPORT    the recording of the drive, the recording of the replay, and the replay's report as JSON
live REPLAY RECORDING  only compares the poses in a live recording with those of a replay
"""

import json
import sys
from pathlib import Path

import numpy as np
from evo.core import metrics
from evo.tools import file_interface
from kiss_icp.config import KISSConfig
from kiss_icp.kiss_icp import KissICP
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore

DIFFERENCE_MAX_M = 0.10
DIFFERENCE_RMSE_M = 0.04
# Equal, unless scans were lost.
LIVE_DIFFERENCE_MAX_M = 0.15


def read(path, topic):
    """Yields the messages of a topic."""
    with AnyReader([Path(path)], default_typestore=get_typestore(Stores.ROS2_JAZZY)) as reader:
        connections = [c for c in reader.connections if c.topic == topic]
        for connection, _, data in reader.messages(connections=connections):
            yield reader.deserialize(data, connection.msgtype)


def positions(path, topic):
    """The positions in the messages of a topic, in metres."""
    points = [message.pose.pose.position for message in read(path, topic)]
    return np.array([(p.x, p.y, p.z) for p in points])


def kiss_icp(path, parameters, shuffle=None):
    """The positions that kiss-icp finds with these parameters, in metres; with the points of each scan shuffled by a
    generator, if there is one."""
    config = KISSConfig()
    config.data.max_range = parameters["range_max_m"]
    config.data.min_range = parameters["range_min_m"]
    config.data.deskew = parameters["deskew"]
    config.mapping.voxel_size = config.data.max_range / 100
    config.registration.max_num_threads = 1
    odometry = KissICP(config)
    found = []
    for scan in read(path, "/points"):
        assert [field.name for field in scan.fields] == ["x", "y", "z", "time"]
        points = scan.data.view("<f4").reshape(-1, 4).astype(np.float64)
        if shuffle is not None:
            points = points[shuffle.permutation(len(points))]
        odometry.register_frame(points[:, :3].copy(), points[:, 3].copy())
        found.append(odometry.last_pose[:3, 3].copy())
    return np.array(found)


def evo_rmse_m(path):
    """The root mean square of the absolute position error, by evo."""
    with Reader(Path(path)) as reader:
        truth, estimate = (
            file_interface.read_bag_trajectory(reader, topic) for topic in ("/ground_truth", "/odometry")
        )
    error = metrics.APE(metrics.PoseRelation.translation_part)
    error.process_data((truth, estimate))
    return error.get_statistic(metrics.StatisticsType.rmse)


def distance(some, others):
    """The maximum of the distances between positions, and the root of their mean square."""
    distances = np.linalg.norm(some - others, axis=1)
    return distances.max(), np.sqrt((distances**2).mean())


def live(replay, recording):
    """Compares the poses of a live recording with those of a replay at the same stamps."""
    def stamps(path, topic):
        return [(message.header.stamp.sec, message.header.stamp.nanosec) for message in read(path, topic)]

    replayed = dict(zip(stamps(replay, "/odometry"), positions(replay, "/odometry")))
    expected = np.array([replayed[stamp] for stamp in stamps(recording, "/odometry")])
    difference, rmse = distance(positions(recording, "/odometry"), expected)
    travelled = np.linalg.norm(expected.max(axis=0) - expected.min(axis=0))
    print(
        f"{len(expected)} poses over ROS 2, along {travelled:.2f} m; from the replay at most {difference:.4f} m, "
        f"RMSE {rmse:.4f} m"
    )
    assert travelled > 2 * LIVE_DIFFERENCE_MAX_M > 2 * difference, "too far from the replay"


def main():
    if sys.argv[1] == "live":
        return live(*sys.argv[2:])
    drive, replay, report = sys.argv[1:]
    report = json.loads(Path(report).read_text())
    ours, theirs = positions(replay, "/odometry"), kiss_icp(drive, report["parameters"])
    assert len(ours) == len(theirs) == report["scans"] > 0, (len(ours), len(theirs))
    difference, rmse = distance(ours, theirs)
    # An order of the points is arbitrary, so kiss-icp's distance from itself tells how much a distance means.
    shuffled = kiss_icp(drive, report["parameters"], np.random.default_rng(1))
    own_difference, own_rmse = distance(shuffled, theirs)
    print(f"kiss-icp with shuffled points, from kiss-icp: at most {own_difference:.4f} m, RMSE {own_rmse:.4f} m")
    truth = positions(replay, "/ground_truth")
    their_error = np.sqrt((np.linalg.norm(theirs - truth, axis=1) ** 2).mean())
    evo, own = evo_rmse_m(replay), report["ape_rmse_m"]
    print(
        f"{len(ours)} scans; from kiss-icp at most {difference:.4f} m, "
        f"RMSE {rmse:.4f} m; APE RMSE {own:.6f} m, by evo {evo:.6f} m, of kiss-icp {their_error:.6f} m"
    )
    assert difference <= DIFFERENCE_MAX_M and rmse <= DIFFERENCE_RMSE_M, "too far from kiss-icp"
    assert abs(own - evo) <= 1e-9 * evo, "not the error that evo finds"


main()
