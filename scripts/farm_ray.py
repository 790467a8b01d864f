"""A Ray cluster of two nodes on this machine, for scripts/test-farm. Prints its address; kills one of the nodes
for a line of input, and ends all at the end of input."""

import sys

from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
cluster.add_node(num_cpus=1)
second = cluster.add_node(num_cpus=1)
print(cluster.address, flush=True)
if sys.stdin.readline():
    cluster.remove_node(second, allow_graceful=False)
    sys.stdin.read()
cluster.shutdown()
