"""Builds a package of definitions of messages, services and actions for C programs, as its
CMakeLists.txt does with colcon, where there is none. They are .idl files, or such files as .msg if
Python has catkin_pkg. With --python, for Python programs as well: PREFIX/python is for PYTHONPATH.

usage: python ros2_interfaces.py PACKAGE_FOLDER PREFIX ROS_PREFIX [--python]
"""
import importlib.metadata
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

KINDS = ["msg", "srv", "action"]
TYPESUPPORTS = ["c", "fastrtps_c", "introspection_c"]


class EntryPoints:
    """The wheels list each entry point twice, which rosidl refuses."""

    listed = importlib.metadata.entry_points

    @classmethod
    def select(cls, group):
        return list({entry.name: entry for entry in cls.listed(group=group)}.values())


def generate(package, folder, generated, ros, languages):
    importlib.metadata.entry_points = EntryPoints
    from rosidl_cli.command.generate.api import generate

    files = sorted(file for kind in KINDS for suffix in ["idl", kind]
                   for file in folder.glob(f"{kind}/*.{suffix}"))
    definitions = [f"{folder}:{file.relative_to(folder)}" for file in files]
    generate(package_name=package, interface_files=definitions, output_path=generated,
             include_paths=[str(ros / "share")], types=languages, typesupports=TYPESUPPORTS)
    return definitions


def build(package, generated, prefix, ros, languages):
    headers = prefix / "include" / package
    for kind in TYPESUPPORTS:
        shutil.copytree(generated / kind, headers / package, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("*.c", "*.cpp", "*.json", "tmp"))
    (prefix / "lib").mkdir()
    includes = [f"-I{path}" for path in [headers, ros / "include", *(ros / "include").iterdir()]]
    flags = ["-O2", "-fPIC", "-DNDEBUG", *includes]

    index = ros / "share/ament_index/resource_index/rosidl_interfaces"
    others = [file.name for file in index.iterdir()]

    def library(kind, sources, needed, output=None):
        objects = []
        for number, source in enumerate(sources):
            objects.append(generated / f"{kind}{number}.o")
            compiler = ["g++", "-std=c++17"] if source.suffix == ".cpp" else ["gcc"]
            subprocess.run([*compiler, *flags, "-c", source, "-o", objects[-1]], check=True)
        needed = [*needed, *(f"{other}__rosidl_{kind}" for other in others)]
        if kind != "generator_c":
            needed = [f"{package}__rosidl_generator_c", *needed]
        output = output or prefix / "lib" / f"lib{package}__rosidl_{kind}.so"
        subprocess.run(["g++", "-shared", "-o", output, *objects,
                        f"-L{prefix}/lib", f"-L{ros}/lib", "-Wl,--allow-shlib-undefined,--as-needed",
                        *(f"-l{name}" for name in needed)], check=True)

    library("generator_c", sorted(generated.glob("c/*/detail/*.c")), ["rosidl_runtime_c"])
    library("typesupport_c", sorted(generated.glob("c/*/*.cpp")), ["rosidl_typesupport_c"])
    library("typesupport_fastrtps_c", sorted(generated.glob("fastrtps_c/*/detail/*.cpp")),
            ["rosidl_typesupport_fastrtps_c", "fastcdr"])
    library("typesupport_introspection_c", sorted(generated.glob("introspection_c/*/detail/*.c")),
            ["rosidl_typesupport_introspection_c"])
    if "py" in languages:
        import numpy

        flags += [f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}"]
        module = prefix / "python" / package
        shutil.copytree(generated / "py", module)
        library("generator_py", sorted(module.glob("*/*_s.c")), [f"{package}__rosidl_typesupport_c"])
        for kind in ["typesupport_c", "typesupport_fastrtps_c"]:
            library(kind, [module / f"_{package}_s.ep.rosidl_{kind}.c"],
                    [f"{package}__rosidl_{kind}", f"{package}__rosidl_generator_py"],
                    module / f"{package}_s__rosidl_{kind}.so")


def main():
    folder, prefix, ros = (Path(argument).resolve() for argument in sys.argv[1:4])
    languages = ["c", "py"] if sys.argv[4:] == ["--python"] else ["c"]
    package = folder.name
    shutil.rmtree(prefix, ignore_errors=True)
    with tempfile.TemporaryDirectory() as generated:
        definitions = generate(package, folder, Path(generated), ros, languages)
        build(package, Path(generated), prefix, ros, languages)
    for kind in KINDS:
        if (folder / kind).is_dir():
            shutil.copytree(folder / kind, prefix / "share" / package / kind)
    index = prefix / "share/ament_index/resource_index/rosidl_interfaces"
    index.mkdir(parents=True)
    names = [definition.split(":")[1] for definition in definitions]
    (index / package).write_text("".join(f"{name}\n" for name in names))


main()
