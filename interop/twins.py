"""The simulated twin of this machine, on which programs are predicted."""

import os

import common

# The benchmarks from which a twin is made.
MEASURED = ["ping-pong", "bandwidth", "two-way-bandwidth", "copy", "clock-cost"]


def twin(launcher):
    """Measures this machine and makes its twin. Returns the machine file."""
    results, machine = common.WORK / "predicted.jsonl", common.WORK / "predicted-twin.toml"
    for path in (results, machine):
        path.unlink(missing_ok=True)
    common.must([launcher, "run", *MEASURED, "--ranks", 2, "--turns", 5, "--out", results])
    common.must([launcher, "calibrate", results, "--output", machine])
    return machine


def sharing(ranks):
    """Returns launcher options for this number of ranks on the twin, which has as many processors as this machine."""
    each = -(-int(ranks) // os.cpu_count())
    return ("--ranks-per-processor", each) if each > 1 else ()
