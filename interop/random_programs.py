"""Random MPI programs from seeds, with a checksum for each, under our library on every fabric and under MPICH.

The program (interop/random) itself checks every result against the standard. This suite compares the libraries.
"""

import os
import re
import subprocess

import installations
from common import COMPILER, LAUNCHER, LIBRARY, ROOT, WORK, Tally, must, on_two_hosts, run, selected

RANKS = (2, 3, 4)
# The number of seeds for all libraries.
SEEDS = 300
# A third as many for our library alone, with functions that MPICH lacks.
WIDE_PART = 3
# A fifth as many on a simulated machine, which switches between processes several times for each message.
SIMULATED_PART = 5
SOURCE = ROOT / "interop" / "random"
PROGRAM = WORK / "random" / "random"


def build():
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-O1", "-g"]
    must([COMPILER, *flags, *sorted(SOURCE.glob("*.c")), "-o", PROGRAM])


class Machine:
    """An MPI library: its launcher with options for a number of ranks, and the folder with the library."""

    def __init__(self, name, launcher, libraries=LIBRARY, environment=None, part=1):
        self.name, self.launcher, self.libraries, self.environment = name, launcher, libraries, environment or {}
        self.is_ours, self.part = libraries == LIBRARY, part

    def run(self, ranks, words):
        return run(ranks, [PROGRAM, *words], launcher=self.launcher(ranks), folder=PROGRAM.parent,
                   environment={"LD_LIBRARY_PATH": str(self.libraries), **self.environment})

    def by_hand(self, ranks, seed, options):
        """Returns the command that runs one seed and prints its steps."""
        words = [*self.launcher(ranks), "-n", ranks, PROGRAM, seed, seed, *options, "verbose"]
        return f"LD_LIBRARY_PATH={self.libraries} " + " ".join(map(str, words))


def machines():
    """Returns our library on each fabric, and the other installed MPIs. All are compared with the first."""
    yield Machine("ours over shared memory", lambda ranks: [LAUNCHER, "launch", "--check-leaks"])
    yield Machine("ours over TCP", lambda ranks: [LAUNCHER, "launch", "--fabric", "tcp"])
    yield Machine("ours on two hosts", on_two_hosts)
    ofi = [LAUNCHER, "launch", "--fabric", "ofi:tcp"]
    tried = subprocess.run([*ofi, "-n", "1", "true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if "libfabric" in tried.stdout:
        print(f"skipped: random programs over libfabric, because: {tried.stdout.strip()}")
    else:
        yield Machine("ours over libfabric", lambda ranks: ofi)
        yield Machine("ours on two hosts over libfabric",
                      lambda ranks: [*on_two_hosts(ranks), "--fabric", "cluster:ofi:tcp"])
    simulated = [LAUNCHER, "launch", "--fabric", "sim:cluster", "--compute", "none"]
    yield Machine("ours on a simulated machine", lambda ranks: simulated, part=SIMULATED_PART)
    venv = ROOT / ".venv"
    found = list(installations.of_the_standard_abi([venv] if (venv / "bin" / "mpiexec").exists() else []))
    for one in found:
        yield Machine(
            f"the MPI in {os.path.relpath(one.root, ROOT)}",
            lambda ranks, one=one: [one.mpiexec],
            one.root / "lib",
            {**one.environment, **one.yielding},
        )
    if not found:
        print("skipped: random programs under MPICH, because no folder of CORNERSTONE_MPI_ROOTS and not .venv has "
              "an MPI with the standard ABI")


def checksums(output):
    return dict(re.findall(r"^seed (\d+) ranks \d+ checksum (\w+)$", output, re.MULTILINE))


def verdict(ended, expected, by_hand):
    """Returns why a run failed, with a command that shows more, or None."""
    got = checksums(ended.output)
    # A run stopped in the seed after its last checksum.
    stopped = max(map(int, got), default=0) + 1
    wrong = re.findall(r"^wrong: (seed (\d+) .*)$", ended.output, re.MULTILINE)
    if wrong:
        return f"{wrong[0][0]}; to see more: {by_hand(wrong[0][1])}"
    if "not freed" in ended.output:
        return ended.reason()
    if ended.status != 0:
        return f"{ended.reason()}, in seed {stopped}; to see more: {by_hand(stopped)}"
    differ = [seed for seed in expected if got.get(seed) != expected[seed]]
    if differ:
        return f"{len(differ)} checksums differ, the first in seed {differ[0]}; to see more: {by_hand(differ[0])}"
    return None


def test(ranks=RANKS, seeds=SEEDS):
    build()
    tally = Tally("random", over="every fabric")
    under = list(machines())
    ours = [machine for machine in under if machine.is_ours]
    for count in ranks:
        for most, options, these in ((seeds, [], under), (max(1, seeds // WIDE_PART), ["wide"], ours)):
            expected = {}
            for machine in these:
                last = min(most, max(1, seeds // machine.part))
                label = " ".join([str(last), *options, f"programs of {count} ranks,", machine.name])
                if not selected(label):
                    continue
                ended = machine.run(count, [1, last, *options])
                wanted = {seed: checksum for seed, checksum in expected.items() if int(seed) <= last}
                tally.take(label, verdict(ended, wanted, lambda seed: machine.by_hand(count, seed, options)))
                expected = expected or checksums(ended.output)
    tally.close()
    return tally
