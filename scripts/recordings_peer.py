"""The independent Python readers and writers of recordings, for bag/tests/files/peers.rs.

write DIRECTORY TYPES    writes recordings with rosbags, one topic for each of the types in the file TYPES that
                         rosbags knows; prints the values
rosbags PATH             prints the values of a recording, read by rosbags
mcap FILE                prints the values of a file, read by mcap-ros2-support
speed FILE               prints how fast mcap reads the messages of a file, without decoding them

Values are printed as a JSON object for each message, in the order of their log times.
"""

import dataclasses
import json
import random
import sys
import time
from pathlib import Path

import numpy

START = 1_700_000_000_000_000_000
INTEGERS = {
    # The libraries disagree about the sign of `byte` and `char`.
    "bool": (0, 1), "byte": (0, 127), "char": (0, 127), "octet": (0, 127),
    "int8": (-128, 127), "uint8": (0, 255), "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1),
    # JSON and JavaScript have 53 bits.
    "int64": (-(2**53), 2**53), "uint64": (0, 2**53),
}


def plain(value):
    """Turns a message of any of the libraries into what JSON has."""
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return value.tolist()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return list(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        # Constants are members, too, and so is the name of the type.
        names = [name for name in names if name != "__msgtype__" and not name.isupper()]
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "__slots__"):
        return {name: plain(getattr(value, name)) for name in value.__slots__}
    return value


def show(topic, log_time, values, **more):
    print(json.dumps({"topic": topic, "log_time": log_time, **more, "values": plain(values)}))


class Values:
    """Random values, the same in every run."""

    def __init__(self, store):
        from rosbags.interfaces import Nodetype

        self.store, self.kinds, self.random = store, Nodetype, random.Random(17)

    def message(self, name):
        _, fields = self.store.fielddefs[name]
        return self.store.types[name](**{field: self.value(kind) for field, kind in fields})

    def value(self, field):
        kind, details = field
        if kind == self.kinds.NAME:
            return self.message(details)
        if kind == self.kinds.BASE:
            return self.base(*details)
        element, count = details
        if kind == self.kinds.SEQUENCE:
            count = self.random.randrange(min(count or 5, 5) + 1)
        values = [self.value(element) for _ in range(count)]
        is_number = element[0] == self.kinds.BASE and element[1][0] != "string"
        if not is_number:
            return values
        name = {"char": "uint8", "byte": "uint8", "octet": "uint8"}.get(element[1][0], element[1][0])
        return numpy.array(values, dtype=name)

    def base(self, name, bound):
        if name == "string":
            text = "".join(self.random.choice("abc /äπ漢😀") for _ in range(self.random.randrange(12)))
            return text.encode()[:bound].decode(errors="ignore") if bound else text
        # Not every parser of JSON rounds the last digit of long numbers correctly.
        if name == "float32":
            return self.random.randrange(-(2**24), 2**24) / 8
        if name == "float64":
            return self.random.randrange(-(2**45), 2**45) / 4
        value = self.random.randint(*INTEGERS[name])
        return bool(value) if name == "bool" else value


def write(directory, types):
    from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.rosbag2.enums import CompressionFormat, CompressionMode
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    values = Values(store)
    names = [name for name in Path(types).read_text().split() if name in store.types]
    messages = []
    for turn in range(4):
        for number, name in enumerate(names):
            log_time = START + turn * 1_000_000_000 + number * 1_000_000
            messages.append((f"/topic{number}", name, log_time, values.message(name)))
    none = QosTime(9223372036, 854775807)
    qos = Qos(QosHistory.KEEP_LAST, 7, QosReliability.BEST_EFFORT, QosDurability.TRANSIENT_LOCAL, none,
              QosTime(1, 500_000_000), QosLiveliness.AUTOMATIC, none, False)
    for plugin in StoragePlugin:
        for version in (8, 9):
            for mode in CompressionMode:
                if plugin == StoragePlugin.SQLITE3 and mode == CompressionMode.STORAGE:
                    continue
                path = Path(directory) / f"{plugin.name}_{version}_{mode.name}".lower()
                writer = Writer(path, version=version, storage_plugin=plugin)
                writer.set_compression(mode, CompressionFormat.ZSTD)
                with writer:
                    connections = {}
                    for topic, name, log_time, message in messages:
                        if topic not in connections:
                            connections[topic] = writer.add_connection(
                                topic, name, typestore=store, offered_qos_profiles=[qos])
                        data = store.serialize_cdr(message, name)
                        writer.write(connections[topic], log_time, data)
    for topic, name, log_time, message in messages:
        show(topic, log_time, message, type=name, hash=store.hash_rihs01(name))


def read_rosbags(path):
    from rosbags.highlevel import AnyReader

    with AnyReader([Path(path)]) as reader:
        for connection, log_time, data in reader.messages():
            values = reader.deserialize(data, connection.msgtype)
            qos = connection.ext.offered_qos_profiles[0]
            show(connection.topic, log_time, values, type=connection.msgtype, hash=connection.digest,
                 qos=[qos.depth, qos.reliability.name.lower(), qos.durability.name.lower(),
                      qos.lifespan.sec])


def read_mcap(path):
    from mcap.reader import make_reader
    from mcap.records import Channel
    from mcap.stream_reader import StreamReader
    from mcap_ros2.decoder import DecoderFactory

    with open(path, "rb") as file:
        # Checks all checksums.
        channels = [r for r in StreamReader(file, validate_crcs=True).records if isinstance(r, Channel)]
        assert channels, "no channels"
    with open(path, "rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[DecoderFactory()])
        header, summary = reader.get_header(), reader.get_summary()
        assert header.profile == "ros2", header
        assert summary.statistics.chunk_count == len(summary.chunk_indexes) > 0, summary.statistics
        assert all(index.message_index_offsets for index in summary.chunk_indexes)
        count = 0
        for schema, channel, message, values in reader.iter_decoded_messages():
            assert (schema.encoding, channel.message_encoding) == ("ros2msg", "cdr")
            count += 1
            show(channel.topic, message.log_time, values, type=schema.name, sequence=message.sequence,
                 publish_time=message.publish_time, hash=channel.metadata["topic_type_hash"])
        assert count == summary.statistics.message_count


def speed(path):
    from mcap.reader import make_reader

    start, count, size = time.perf_counter(), 0, 0
    with open(path, "rb") as file:
        for _, _, message in make_reader(file).iter_messages():
            count, size = count + 1, size + len(message.data)
    seconds = time.perf_counter() - start
    print(f"{count} messages: {count / seconds:.0f} messages/s, {size / seconds / 1e6:.1f} MB/s")


if __name__ == "__main__":
    {"write": write, "rosbags": read_rosbags, "mcap": read_mcap, "speed": speed}[sys.argv[1]](*sys.argv[2:])
