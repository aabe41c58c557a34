"""ReFrame checks: Cornerstone's benchmarks of messages, as regression tests with figures.

    reframe -c packaging/reframe/cornerstone.py -r
"""

import csv
import os
import statistics

import reframe as rfm
import reframe.utility.sanity as sn


@rfm.simple_test
class PingPong(rfm.RunOnlyRegressionTest):
    """Half of a round trip between two ranks, of 8 bytes and of 64 KiB."""

    descr = "Cornerstone's ping-pong over shared memory"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = "cornerstone"
    executable_opts = [
        "run",
        "ping-pong",
        "--ranks",
        "2",
        "--sizes",
        "8,64KiB",
        "--format",
        "csv",
        "--out",
        "run.jsonl",
    ]

    @sanity_function
    def is_whole(self):
        return sn.assert_true(self.times(8) and self.times(65536))

    @performance_function("us")
    def latency_8_bytes(self):
        return statistics.median(self.times(8))

    @performance_function("us")
    def latency_64_kib(self):
        return statistics.median(self.times(65536))

    def times(self, size_bytes):
        """The medians of the launches, in microseconds."""
        with open(os.path.join(self.stagedir, str(self.stdout))) as file:
            rows = list(csv.DictReader(file))
        mine = (row for row in rows if row["metric"] == "time" and int(row["size_bytes"]) == size_bytes)
        return [float(row["median"]) for row in mine]
