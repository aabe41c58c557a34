"""A Benchpark experiment: Cornerstone's benchmarks of messages, by the Ramble application beside this folder.

In a checkout of Benchpark as experiments/cornerstone/experiment.py.
"""

from benchpark.directives import maintainers, variant
from benchpark.experiment import Experiment


class Cornerstone(Experiment):
    """Latency and bandwidth between two ranks of a node."""

    variant("workload", default="messages", description="which workload")
    variant("version", default="main", description="version of the application")
    maintainers()

    def compute_applications_section(self):
        self.add_experiment_variable("n_ranks", 2, True)
        self.add_experiment_variable("n_nodes", 1, True)
        self.add_experiment_variable("benchmarks", "ping-pong bandwidth")

    def compute_package_section(self):
        self.add_package_spec(self.name, [f"cornerstone@{self.spec.variants['version'][0]}"])
