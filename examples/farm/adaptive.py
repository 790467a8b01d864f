#!/usr/bin/env python3
"""Explores a job on a Ray cluster until a seed fails, by the command line of the program alone.

    python examples/farm/adaptive.py target/release/examples/jobs examples/jobs/lossy.toml --results ~/results/1

Program, job and results are in a folder that all nodes see. Chunks of seeds are started in ascending order.
When one fails, those of higher seeds are cancelled and those of lower seeds go on, so the lowest seed that
fails is found. Ray starts the chunks of a node that fails again elsewhere; they go on where they were.
"""

import argparse
import os
import subprocess
import sys

import ray


@ray.remote(num_cpus=1, max_retries=5)
def explore(command, folder):
    """Runs a chunk; returns its exit code and output. If it is cancelled, `run` ends the process."""
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if ended.returncode < 0:
        raise RuntimeError(f"{command} was killed by signal {-ended.returncode}")
    return ended.returncode, ended.stdout + ended.stderr


def chunks(arguments):
    """The commands of the chunks, in ascending order."""
    first, end = map(int, arguments.seeds.split(".."))
    for start in range(first, end, arguments.chunk):
        seeds = f"{start}..{min(start + arguments.chunk, end)}"
        yield [arguments.program, "explore", arguments.job, "--threads", "1", "--seeds", seeds,
               "--results", arguments.results]


def search(arguments):
    """Runs chunks until one has failed and all before it have ended; returns whether one has."""
    waiting = enumerate(chunks(arguments))
    running, lowest = {}, None
    while True:
        # Two for each processor, so that none waits for this program.
        while lowest is None and len(running) < 2 * ray.cluster_resources().get("CPU", 1):
            number, command = next(waiting, (None, None))
            if command is None:
                break
            running[explore.remote(command, os.getcwd())] = number
        if not running:
            return lowest is not None
        (done, *_), _ = ray.wait(list(running))
        number = running.pop(done)
        try:
            code, output = ray.get(done)
        except (ray.exceptions.TaskCancelledError, ray.exceptions.WorkerCrashedError):
            if lowest is None or number < lowest:
                raise
            continue
        if code > 1:
            sys.exit(f"chunk {number} ended with {code}: {output}")
        if code == 1 and (lowest is None or number < lowest):
            lowest = number
            for task, number in running.items():
                if number > lowest:
                    ray.cancel(task)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("job")
    parser.add_argument("--seeds", default="0..1000", help="the first and the one after the last")
    parser.add_argument("--chunk", type=int, default=20, help="seeds of one task")
    parser.add_argument("--results", required=True, help="the folder of results")
    parser.add_argument("--address", default="auto", help="the Ray cluster")
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    arguments.results = os.path.abspath(os.path.expanduser(arguments.results))
    ray.init(address=arguments.address, log_to_driver=False)
    search(arguments)
    merged = [arguments.program, "results", "merge", arguments.results]
    sys.exit(subprocess.run(merged).returncode)


if __name__ == "__main__":
    main()
