"""The peer of rclpy.rs: serializes random messages of all types, and reads them back from Rust.

Writes a line `type hex` for each message, and expects a line with the same message in hex.
"""

import importlib
import random
import sys

from rclpy.serialization import deserialize_message, serialize_message
from rosidl_parser.definition import (AbstractGenericString, AbstractWString, AbstractSequence, Array,
                                      BasicType, BoundedSequence, NamespacedType)

PACKAGES = """action_msgs builtin_interfaces diagnostic_msgs geometry_msgs lifecycle_msgs nav_msgs
    rcl_interfaces rosgraph_msgs sensor_msgs service_msgs shape_msgs std_msgs std_srvs stereo_msgs
    test_msgs trajectory_msgs type_description_interfaces unique_identifier_msgs
    visualization_msgs""".split()
TEXT = ["", "a", "Hellö", "ロ😀", "x" * 22]
INTEGERS = {f"{sign}int{bits}": (-2 ** (bits - 1) if not sign else 0, 2 ** (bits - (not sign)) - 1)
            for bits in (8, 16, 32, 64) for sign in ("", "u")}


def value(kind):
    """A random value of a type."""
    if isinstance(kind, Array):
        return [value(kind.value_type) for _ in range(kind.size)]
    if isinstance(kind, AbstractSequence):
        limit = kind.maximum_size if isinstance(kind, BoundedSequence) else 3
        return [value(kind.value_type) for _ in range(random.randint(0, min(limit, 3)))]
    if isinstance(kind, AbstractGenericString):
        limit = getattr(kind, "maximum_size", 99)
        wide = isinstance(kind, AbstractWString)
        size = lambda text: len(text.encode("utf-16-le")) // 2 if wide else len(text.encode())
        return random.choice([text for text in TEXT if size(text) <= limit])
    if isinstance(kind, NamespacedType):
        return message(TYPES["/".join([*kind.namespaces, kind.name])])
    assert isinstance(kind, BasicType), kind
    if kind.typename == "boolean":
        return random.random() < 0.5
    if kind.typename in ("float", "double"):
        return random.randint(-2 ** 20, 2 ** 20) / 4
    if kind.typename == "octet":
        return bytes([random.randint(0, 255)])
    return random.randint(*INTEGERS[kind.typename])


def message(cls):
    """A random message."""
    fields = cls.get_fields_and_field_types()
    return cls(**{name: value(kind) for name, kind in zip(fields, cls.SLOT_TYPES)
                  if name != "structure_needs_at_least_one_member"})


def types():
    """The message types of all packages that are installed, with their names."""
    for package in PACKAGES:
        for kind in ("msg", "srv", "action"):
            try:
                module = importlib.import_module(f"{package}.{kind}")
            except ModuleNotFoundError:
                continue
            for name in sorted(vars(module)):
                cls = getattr(module, name)
                if name.startswith("_") or not isinstance(cls, type):
                    continue
                if hasattr(cls, "get_fields_and_field_types"):
                    yield f"{package}/{kind}/{name}", cls
                for part in ("Request", "Response", "Event", "Goal", "Result", "Feedback"):
                    if hasattr(cls, part):
                        yield f"{package}/{kind}/{name}_{part}", getattr(cls, part)
                if hasattr(cls, "Impl"):
                    yield f"{package}/{kind}/{name}_FeedbackMessage", cls.Impl.FeedbackMessage
                    for service in ("SendGoal", "GetResult"):
                        for part in ("Request", "Response", "Event"):
                            inner = getattr(getattr(cls.Impl, f"{service}Service"), part)
                            yield f"{package}/{kind}/{name}_{service}_{part}", inner


def main():
    random.seed(1)
    for name, cls in TYPES.items():
        for _ in range(5):
            sent = message(cls)
            print(name, serialize_message(sent).hex(), flush=True)
            received = deserialize_message(bytes.fromhex(sys.stdin.readline()), cls)
            assert sent == received, f"{name}: {sent} became {received}"


TYPES = dict(types())
main()
