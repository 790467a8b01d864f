"""Writes the processes of a launch file in Python as a system, in JSON, and starts none of them.

The actions are executed by launch itself, one after the other: conditions, substitutions, included files and groups
mean what they mean to it. Only the start of a process is replaced. Actions that depend on events of running processes
are errors, with one exception: a process whose end shuts the system down is the end of the system.
"""

import json
import os
import sys

OUTPUT = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # a launch file may print

try:
    from launch import LaunchContext
    from launch.actions import EmitEvent, ExecuteLocal, IncludeLaunchDescription, RegisterEventHandler
    from launch.actions import Shutdown, TimerAction
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch.utilities.type_utils import perform_typed_substitution
except ImportError as error:
    sys.exit(f"launch files in Python need ROS 2's package `launch` for `python3`, so source a ROS 2 that has it: {error}")

EVENTS = (EmitEvent, RegisterEventHandler)
NAMES = {"LifecycleNode", "LifecycleTransition", "LoadComposableNodes", "OpaqueCoroutine"}


def refuse(action, reason="depends on events of running processes"):
    """Ends with an error that names the action."""
    sys.exit(f"the action {type(action).__name__} {reason}: write a system in place of the launch file")


class Reader:
    """The processes of a launch file."""

    def __init__(self, arguments):
        self.context = LaunchContext(argv=arguments)
        self.context.environment.update(os.environ)
        self.start = 0.0
        self.system = {"processes": []}

    def read(self, entity):
        """Executes an entity and all that it contains."""
        if isinstance(entity, ExecuteLocal):
            execute = ExecuteLocal.execute
            ExecuteLocal.execute = lambda action, context: self.add(action)
            entities = entity.visit(self.context)
            ExecuteLocal.execute = execute
        elif isinstance(entity, TimerAction):
            entities = []
            if entity.condition is None or entity.condition.evaluate(self.context):
                before = self.start
                self.start += perform_typed_substitution(self.context, entity.period, float)
                for action in entity.actions:
                    self.read(action)
                self.start = before
        elif isinstance(entity, EVENTS) or type(entity).__name__ in NAMES:
            refuse(entity)
        else:
            entities = entity.visit(self.context)
        for inner in entities or []:
            self.read(inner)

    def add(self, action):
        """Adds a process."""
        action.prepare(self.context)
        started = action.process_description
        private = vars(action)
        command = list(started.final_cmd)
        if action.shell:
            command = ["/bin/sh", "-c", " ".join(command)]
        name = started.final_name.rsplit("-", 1)[0]
        if hasattr(action, "node_name") and "<" not in action.node_name.rsplit("/", 1)[-1]:
            name = action.node_name.rsplit("/", 1)[-1]
        name = name.replace("/", "_").replace(" ", "_")
        others = {process["name"] for process in self.system["processes"]}
        numbers = (f"{name}_{number}" for number in range(2, len(others) + 3))
        process = {"name": name if name not in others else next(name for name in numbers if name not in others)}
        process["command"] = command
        process["folder"] = os.path.abspath(started.final_cwd or ".")
        environment = os.environ if started.final_env is None else started.final_env
        process["env"] = {name: value for name, value in environment.items() if os.environ.get(name) != value}
        process["start"] = f"{round(self.start * 1e9)} ns"
        respawn = private.get("_ExecuteLocal__respawn")
        if respawn and perform_typed_substitution(self.context, respawn, bool):
            process["restart"] = "always"
        on_exit = private.get("_ExecuteLocal__on_exit")
        if on_exit is not None:
            on_exit = on_exit if isinstance(on_exit, list) else [on_exit]
            if not all(isinstance(inner, Shutdown) for inner in on_exit) or "end" in self.system:
                refuse(action, "has an `on_exit` that is not one shutdown")
            self.system["end"] = process["name"]
        self.system["processes"].append(process)


def main(file, arguments):
    """Reads the file."""
    reader = Reader(arguments)
    arguments = [argument.split(":=", 1) for argument in arguments]
    try:
        reader.read(IncludeLaunchDescription(PythonLaunchDescriptionSource(file), launch_arguments=arguments))
    except Exception as error:  # any, of the file's own code
        sys.exit(f"{type(error).__name__}: {error}")
    json.dump(reader.system, OUTPUT)


main(sys.argv[1], sys.argv[2:])
