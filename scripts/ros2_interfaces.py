"""Builds a package of message definitions (.idl) for C programs, as its CMakeLists.txt does with
colcon, where there is none.

usage: python ros2_interfaces.py PACKAGE_FOLDER PREFIX ROS_PREFIX
"""
import importlib.metadata
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TYPESUPPORTS = ["c", "fastrtps_c", "introspection_c"]


class EntryPoints:
    """The wheels list each entry point twice, which rosidl refuses."""

    listed = importlib.metadata.entry_points

    @classmethod
    def select(cls, group):
        return list({entry.name: entry for entry in cls.listed(group=group)}.values())


def generate(package, folder, generated):
    importlib.metadata.entry_points = EntryPoints
    from rosidl_cli.command.generate.api import generate

    files = sorted(folder.glob("msg/*.idl"))
    definitions = [f"{folder}:{file.relative_to(folder)}" for file in files]
    generate(package_name=package, interface_files=definitions, include_paths=[],
             output_path=generated, types=["c"], typesupports=TYPESUPPORTS)
    return definitions


def build(package, generated, prefix, ros):
    headers = prefix / "include" / package
    for kind in TYPESUPPORTS:
        shutil.copytree(generated / kind, headers / package, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("*.c", "*.cpp", "*.json", "tmp"))
    (prefix / "lib").mkdir()
    includes = [f"-I{path}" for path in [headers, ros / "include", *(ros / "include").iterdir()]]
    flags = ["-O2", "-fPIC", "-DNDEBUG", *includes]

    def library(kind, sources, needed):
        objects = []
        for number, source in enumerate(sources):
            objects.append(generated / f"{kind}{number}.o")
            compiler = ["g++", "-std=c++17"] if source.suffix == ".cpp" else ["gcc"]
            subprocess.run([*compiler, *flags, "-c", source, "-o", objects[-1]], check=True)
        if kind != "generator_c":
            needed = [f"{package}__rosidl_generator_c", *needed]
        output = prefix / "lib" / f"lib{package}__rosidl_{kind}.so"
        subprocess.run(["g++", "-shared", "-o", output, *objects,
                        f"-L{prefix}/lib", f"-L{ros}/lib", "-Wl,--allow-shlib-undefined",
                        *(f"-l{name}" for name in needed)], check=True)

    library("generator_c", sorted(generated.glob("c/msg/detail/*.c")), ["rosidl_runtime_c"])
    library("typesupport_c", sorted(generated.glob("c/msg/*.cpp")), ["rosidl_typesupport_c"])
    library("typesupport_fastrtps_c", sorted(generated.glob("fastrtps_c/msg/detail/*.cpp")),
            ["rosidl_typesupport_fastrtps_c", "fastcdr"])
    library("typesupport_introspection_c", sorted(generated.glob("introspection_c/msg/detail/*.c")),
            ["rosidl_typesupport_introspection_c"])


def main():
    folder, prefix, ros = (Path(argument).resolve() for argument in sys.argv[1:])
    package = folder.name
    shutil.rmtree(prefix, ignore_errors=True)
    with tempfile.TemporaryDirectory() as generated:
        definitions = generate(package, folder, Path(generated))
        build(package, Path(generated), prefix, ros)
    shutil.copytree(folder / "msg", prefix / "share" / package / "msg")
    index = prefix / "share/ament_index/resource_index/rosidl_interfaces"
    index.mkdir(parents=True)
    names = [definition.split(":")[1] for definition in definitions]
    (index / package).write_text("".join(f"{name}\n" for name in names))


main()
