"""Builds rcl, rclpy and messages from checkouts of ROS 2's repositories, for the architecture
MACHINE, such as aarch64. Headers, definitions of messages and files in Python come from the ROS 2
that is there. It has no middleware: the library that `ringspin run` loads into programs is one.

usage: python ros2_from_source.py MACHINE CHECKOUTS ROS SYSROOT WHEELS PREFIX
"""
import concurrent.futures
import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

LIBRARIES = {
    "rcutils": "rcutils/src/*.c",
    "rcpputils": "rcpputils/src/*.cpp",
    "rosidl_runtime_c": "rosidl/rosidl_runtime_c/src/**/*.c",
    "rosidl_typesupport_introspection_c": "rosidl/rosidl_typesupport_introspection_c/src/*.c",
    "rosidl_typesupport_c": "rosidl_typesupport/rosidl_typesupport_c/src/*.c*",
    "rosidl_dynamic_typesupport": "rosidl_dynamic_typesupport/src/**/*.c",
    "rmw": "rmw/rmw/src/*.c",
    "rcl_yaml_param_parser": "rcl/rcl_yaml_param_parser/src/*.c",
    "rcl_logging_interface": "rcl_logging/rcl_logging_interface/src/*.c",
    "rcl_logging_spdlog": "rcl_logging/rcl_logging_spdlog/src/*.cpp",
}
# They need messages.
CLIENTS = {
    "rcl": "rcl/rcl/src/rcl/*.c",
    "rcl_action": "rcl/rcl_action/src/**/*.c",
    "rcl_lifecycle": "rcl/rcl_lifecycle/src/*.c",
}
# Each one after those that it uses.
MESSAGES = ["builtin_interfaces", "service_msgs", "unique_identifier_msgs",
            "type_description_interfaces", "action_msgs", "rcl_interfaces", "rosgraph_msgs",
            "lifecycle_msgs", "std_msgs", "std_srvs"]
KINDS = ["generator_c", "typesupport_c", "typesupport_introspection_c"]
FLAGS = ["-O1", "-w", "-fPIC", "-DNDEBUG", "-D_GNU_SOURCE", "-DTRACETOOLS_DISABLED",
         "-DRCL_COMMAND_LINE_ENABLED=1", "-DSPDLOG_FMT_EXTERNAL", "-DFMT_HEADER_ONLY"]


class EntryPoints:
    """The wheels list each entry point twice, which rosidl refuses."""

    listed = importlib.metadata.entry_points

    @classmethod
    def select(cls, group):
        return list({entry.name: entry for entry in cls.listed(group=group)}.values())


class Build:
    def __init__(self, machine, checkouts, ros, sysroot, wheels, prefix):
        self.checkouts, self.ros, self.wheels, self.prefix = checkouts, ros, wheels, prefix
        self.triplet = f"{machine}-linux-gnu"
        self.site = next(ros.glob("lib/python3*/site-packages"))
        headers = [folder for folder in sorted(checkouts.rglob("include")) if "test" not in str(folder)]
        headers += [ros / "include", *sorted((ros / "include").iterdir())]
        headers += [sysroot / "usr/include", sysroot / "usr/include" / self.triplet,
                    *(sysroot / "usr/include").glob("python3*"),
                    wheels / "pybind11/include", wheels / "numpy/_core/include"]
        self.headers = [f"-I{folder}" for folder in headers]
        self.folders = [f"-L{prefix}/lib", f"-L{sysroot}/usr/lib/{self.triplet}"]
        self.made, self.messages = [], []
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def compile(self, source, target, flags):
        if target.exists():
            return target
        language = ["g++", "-std=c++17"] if source.suffix == ".cpp" else ["gcc"]
        partial = target.with_suffix(".partial")
        subprocess.run([f"{self.triplet}-{language[0]}", *language[1:], *FLAGS, *flags,
                        *self.headers, "-c", source, "-o", partial], check=True)
        return partial.rename(target)

    def link(self, output, sources, flags=(), needed=()):
        objects = self.prefix / "objects" / output.stem
        objects.mkdir(parents=True, exist_ok=True)
        jobs = [self.pool.submit(self.compile, source, objects / f"{number}.o", flags)
                for number, source in enumerate(sorted(sources))]
        output.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([f"{self.triplet}-g++", "-shared", "-o", output,
                        *(job.result() for job in jobs), *self.folders,
                        "-Wl,--allow-shlib-undefined,--no-as-needed",
                        *(f"-l{name}" for name in needed)], check=True)

    def of_messages(self, kinds):
        return [f"{package}__rosidl_{kind}" for package in self.messages for kind in kinds]

    def library(self, name, pattern):
        sources = [file for file in self.checkouts.glob(pattern) if "win32" not in file.name]
        if not sources:
            sys.exit(f"{self.checkouts} has no {pattern}; scripts/test-processes-aarch64 lists the repositories")
        flags = [f"-I{sources[0].parent}", f"-I{sources[0].parent.parent}",
                 f'-DROS_PACKAGE_NAME="{name}"']
        yaml = ["yaml"] if name == "rcl_yaml_param_parser" else []
        needed = [*self.made, *yaml, *self.of_messages(KINDS[:2])]
        self.link(self.prefix / f"lib/lib{name}.so", sources, flags, needed)
        self.made.append(name)

    def message_package(self, package):
        from rosidl_cli.command.generate.api import generate

        generated, folder = self.prefix / "generated" / package, self.ros / "share" / package
        if not generated.exists():
            files = sorted(f"{folder}:{file.relative_to(folder)}" for file in folder.rglob("*.idl"))
            generate(package_name=package, interface_files=files, output_path=generated,
                     include_paths=[str(self.ros / "share")], types=["c"],
                     typesupports=["c", "introspection_c"])
        headers = self.prefix / "headers" / package
        for kind in ["c", "introspection_c"]:
            shutil.copytree(generated / kind, headers / package, dirs_exist_ok=True,
                            ignore=shutil.ignore_patterns("*.c", "*.cpp", "*.json"))
        flags, own = ["-O0", f"-I{headers}"], f"{package}__rosidl_generator_c"
        for kind, pattern in zip(KINDS, ["c/*/detail/*.c", "c/*/*.cpp", "introspection_c/*/detail/*.c"]):
            runtime = "rosidl_runtime_c" if kind == "generator_c" else f"rosidl_{kind}"
            needed = [runtime, *([] if kind == "generator_c" else [own]), *self.of_messages([kind])]
            output = self.prefix / f"lib/lib{package}__rosidl_{kind}.so"
            self.link(output, generated.glob(pattern), flags, needed)
        self.messages.append(package)

    def python(self):
        """The files in Python, and the extension modules beside them."""
        others = ["*.so", "*.so.*", "numpy*", "*yaml*", "pip*", "*.libs", "__pycache__", "*-info"]
        site = self.prefix / "site"
        shutil.copytree(self.site, site, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*others))
        for folder in ["numpy", "numpy.libs", "yaml", "_yaml"]:
            shutil.copytree(self.wheels / folder, site / folder, dirs_exist_ok=True)
        needed = self.of_messages(KINDS[:2])
        for package in self.messages:
            own = f"{package}__rosidl_generator_py"
            sources = (self.site / package).glob("*/*_s.c")
            self.link(self.prefix / f"lib/lib{own}.so", sources, ["-O0"], needed)
            needed.append(own)
            module = site / package / f"{package}_s__rosidl_typesupport_c.so"
            entry = self.site / package / f"_{package}_s.ep.rosidl_typesupport_c.c"
            self.link(module, [entry], ["-O0"], needed)
        source = self.checkouts / "rclpy/rclpy/src/rclpy"
        name = f"cpython-{sys.version_info.major}{sys.version_info.minor}-{self.triplet}"
        self.link(site / f"rclpy/_rclpy_pybind11.{name}.so", source.glob("*.cpp"),
                  ["-O0", f"-I{source}", '-DROS_PACKAGE_NAME="rclpy"'], [*self.made, *needed])


def main():
    build = Build(sys.argv[1], *(Path(argument).resolve() for argument in sys.argv[2:]))
    importlib.metadata.entry_points = EntryPoints
    for name, pattern in LIBRARIES.items():
        build.library(name, pattern)
    for package in MESSAGES:
        build.message_package(package)
    for name, pattern in CLIENTS.items():
        build.library(name, pattern)
    build.python()


main()
