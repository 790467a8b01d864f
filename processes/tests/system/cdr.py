"""Serializes random messages of all packages into a file, and reads those of another middleware.

cdr.py COUNT OWN [OTHER]: the same messages each time, one a line in OWN. With OTHER, each line there has to give the same
message, and damaged lines an error at most.
"""
import array
import importlib
import random
import sys

import numpy
from rclpy.serialization import deserialize_message, serialize_message

PACKAGES = '''action_msgs builtin_interfaces geometry_msgs lifecycle_msgs nav_msgs rcl_interfaces rosgraph_msgs
    sensor_msgs service_msgs std_msgs test_msgs type_description_interfaces unique_identifier_msgs'''
numbers = random.Random(5)
damages = random.Random(6)


def text(characters, most):
    return ''.join(numbers.choice(characters) for _ in range(numbers.randrange(most + 1)))


def integer(of):
    bits = int(of.lstrip('uint'))
    return numbers.randrange(2**bits) - (0 if of.startswith('u') else 2**(bits - 1))


def value(of):
    if of.startswith('sequence<'):
        inner, _, bound = of[9:-1].partition(', ')
        return [value(inner) for _ in range(numbers.randrange(min(int(bound or 5), 5) + 1))]
    if of.endswith(']'):
        inner, count = of[:-1].rsplit('[', 1)
        return [value(inner) for _ in range(int(count))]
    kind, _, bound = of.rstrip('>').partition('<')
    if kind == 'boolean':
        return numbers.random() < 0.5
    if kind == 'octet':
        return bytes([numbers.randrange(256)])
    if kind in ('float', 'double'):
        number = numbers.uniform(-9, 9)
        return float(numpy.float32(number)) if kind == 'float' else number
    if kind in ('string', 'wstring'):
        return text('abcdé ' if kind == 'string' else 'abcdéλ', min(int(bound or 20), 20) // 2)
    if '/' not in kind:
        return integer('uint8' if kind == 'char' else kind)
    package, name = kind.split('/')
    for folder in ('msg', 'srv', 'action'):
        found = getattr(importlib.import_module(f'{package}.{folder}'), name, None)
        if found:
            return fill(found)
    raise KeyError(of)


def fill(of):
    message = of()
    for field, kind in of.get_fields_and_field_types().items():
        new, old = value(kind), getattr(message, field)
        if isinstance(old, numpy.ndarray):
            new = numpy.array(new, dtype=old.dtype)
        elif isinstance(old, array.array):
            new = array.array(old.typecode, new)
        setattr(message, field, new)
    return message


def types():
    for package in PACKAGES.split():
        module = importlib.import_module(f'{package}.msg')
        for name in sorted(dir(module)):
            if hasattr(getattr(module, name), 'get_fields_and_field_types'):
                yield getattr(module, name)


def read_damaged(line, of):
    line = bytearray(line)
    if damages.random() < 0.5:
        del line[damages.randrange(len(line)):]
    else:
        for _ in range(3):
            line[damages.randrange(len(line))] ^= 1 << damages.randrange(8)
    try:
        str(deserialize_message(bytes(line), of))
    except Exception:  # any error is one, a crash is none
        pass


count, own = int(sys.argv[1]), open(sys.argv[2], 'w')
other = open(sys.argv[3]) if len(sys.argv) > 3 else None
kinds, equal_bytes = list(types()), 0
for n in range(count):
    of = kinds[n % len(kinds)]
    message = fill(of)
    line = serialize_message(message)
    own.write(line.hex() + '\n')
    assert str(deserialize_message(line, of)) == str(message), f'{of}: its own bytes'
    if other:
        there = bytes.fromhex(other.readline())
        assert str(deserialize_message(there, of)) == str(message), f'{of}: bytes of the other'
        equal_bytes += there == line
        read_damaged(there, of)
print(f'{count} messages of {len(kinds)} types, {equal_bytes} with equal bytes')
