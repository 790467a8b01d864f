"""Generates the structs that rclrs itself has for the messages of an installed ROS 2, as its rosidl_generator_rs does with
colcon: PREFIX is for AMENT_PREFIX_PATH.

usage: python rclrs_messages.py CHECKOUT_OF_ROSIDL_RUST PREFIX ROS_PREFIX...
"""
import json
import shutil
import sys
from pathlib import Path

from rosidl_cli.command.translate.api import translate

checkout, prefix, *installed = (Path(argument).resolve() for argument in sys.argv[1:])
generator = checkout / "rosidl_generator_rs"
sys.path.insert(0, str(generator))
from rosidl_generator_rs import generate_rs  # noqa: E402

INDEX = "share/ament_index/resource_index/rosidl_interfaces"


def definitions(ros, package, output):
    """Its definitions as .idl files, each as FOLDER:FILE."""
    folder = ros / "share" / package
    names = (ros / INDEX / package).read_text().split()
    idl = sorted(name for name in names if name.endswith(".idl"))
    if idl:
        return [f"{folder}:{name}" for name in idl]
    others = [f"{folder}:{name}" for name in sorted(names)]
    return translate(package_name=package, interface_files=others, output_format="idl", output_path=output / "idl")


packages = {path.name: ros for ros in installed for path in (ros / INDEX).iterdir()}
if prefix.exists():
    sys.exit()
unfinished = prefix.with_suffix(".unfinished")
shutil.rmtree(unfinished, ignore_errors=True)
for package, ros in sorted(packages.items()):
    output = unfinished / "share" / package
    output.mkdir(parents=True)
    arguments = output / "arguments.json"
    arguments.write_text(json.dumps({
        "package_name": package,
        "package_version": "0.0.0",
        "output_dir": str(output),
        "template_dir": str(generator / "resource"),
        "idl_tuples": definitions(ros, package, output),
        "ros_interface_dependencies": [f"{other}:" for other in packages],
        "target_dependencies": [],
    }))
    generate_rs(arguments, "rosidl_typesupport_c")
unfinished.rename(prefix)
