"""A Ramble application: Cornerstone's benchmarks of messages.

In a repository of yours as applications/cornerstone/application.py.
"""

from ramble.appkit import *


class Cornerstone(ExecutableApplication):
    """A laboratory for message-passing machines: latency, bandwidth, collectives, with confidence intervals."""

    name = "cornerstone"
    tags("synthetic-benchmarks", "mpi")

    software_spec("cornerstone", pkg_spec="cornerstone@main", package_manager="spack*")
    required_package("cornerstone", package_manager="spack*")

    executable(
        "measure",
        "cornerstone run {benchmarks} --ranks {n_ranks} --out {experiment_run_dir}/run.jsonl --format csv",
        use_mpi=False,
    )
    executable("tables", "cornerstone report --tables {experiment_run_dir}/run.jsonl", use_mpi=False)

    workload("messages", executables=["measure", "tables"])
    workload_variable(
        "benchmarks",
        default="ping-pong bandwidth",
        description="Benchmarks or groups to measure",
        workloads=["messages"],
    )

    success_criteria("finished", mode="string", match=r".*ping-pong.*", file="{log_file}")
