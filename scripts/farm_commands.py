"""Prints the command of each shard in the examples for Kubernetes and GitHub Actions, with its variables: for
scripts/test-farm, which runs them here.

    farm_commands.py examples/farm/kubernetes.yaml
"""

import shlex
import sys

import yaml


def of_kubernetes(job):
    container = job["template"]["spec"]["containers"][0]
    variables = {variable["name"]: variable["value"] for variable in container["env"]}
    for index in range(job["completions"]):
        yield {**variables, "JOB_COMPLETION_INDEX": str(index)}, shlex.join(container["command"])


def of_github(jobs):
    shards = jobs["explore"]["strategy"]["matrix"]["shard"]
    runs = [step["run"] for step in jobs["explore"]["steps"] if " explore " in step.get("run", "")]
    for shard in shards:
        values = {"matrix.shard": str(shard), "strategy.job-total": str(len(shards))}
        variables = dict(jobs["explore"]["env"])
        for name, value in values.items():
            variables = {key: text.replace("${{ %s }}" % name, value) for key, text in variables.items()}
        # Each runner has a folder of results, which the last job downloads under its name.
        yield variables, runs[0].replace(" results", f" results/results-{shard}")


with open(sys.argv[1]) as file:
    document = yaml.safe_load(file)
shards = of_github(document["jobs"]) if "jobs" in document else of_kubernetes(document["spec"])
for variables, command in shards:
    print(*(f"{name}={shlex.quote(value)}" for name, value in variables.items()), command)
