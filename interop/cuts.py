"""Hundreds of cuts of cables between two to four hosts, which are network name spaces. Meanwhile a program sends
messages and checks their bytes."""

import os
import pathlib
import random
import statistics
import struct
import subprocess
import tempfile
import time

from common import COMPILER, LAUNCHER, LIBRARY, ROOT, Tally, must
from spaces import Hosts, end

CUTS = int(os.environ.get("CORNERSTONE_CUTS", "300"))
SEED = int(os.environ.get("CORNERSTONE_SEED", "1"))
PROGRAM = ROOT / "crates" / "cornerstone" / "tests" / "command" / "cuts.c"
RATE = "500mbit"
# The longest permitted time from a cut until messages pass again.
WANTED_S = 1.0
# Anything that takes longer is regarded as hanging.
LIMIT_S = 30
CABLES = 2
# More than two hosts cover further cases: hosts that do not notice a cut, and pairs of which one has a single cable.
HOSTS = (2, 3, 4)
FEWER = 10


class Running:
    """The program on all hosts."""

    def __init__(self, process, folder):
        self.process, self.folder = process, folder

    def rounds(self):
        try:
            data = (self.folder / "counter").read_bytes()
        except FileNotFoundError:
            return 0
        return struct.unpack("<q", data)[0] if len(data) == 8 else 0

    def wait_for_rounds(self, more):
        """Returns the time until `more` further rounds are made, or None if they never are."""
        begin, wanted = time.monotonic(), self.rounds() + more
        while self.rounds() < wanted:
            if time.monotonic() - begin > LIMIT_S or self.process.poll() is not None:
                return None
            time.sleep(0.001)
        return time.monotonic() - begin

    def end(self):
        """Ends the program. Returns why it failed, or None."""
        (self.folder / "stop").touch()
        try:
            output, _ = self.process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            end(self.process)
            return "it does not end"
        print(f"    {output.strip()[:400]}", flush=True)
        return None if self.process.returncode == 0 else f"status {self.process.returncode}"


def cut_at_random(hosts, running, chance, cuts):
    """Cuts cables at random moments. Returns for each the time until messages passed again, or None if never."""
    pauses = []
    for _ in range(cuts):
        cable, host = chance.randrange(CABLES), chance.randrange(len(hosts.spaces))
        hosts.set_cable(cable, host, "down")
        # All bytes of the current round may have arrived already.
        pauses.append(running.wait_for_rounds(2))
        if pauses[-1] is None:
            return pauses
        time.sleep(chance.uniform(0, 0.2))
        hosts.set_cable(cable, host, "up")
        # Either cable may be cut next, so the mended one must be in use again before.
        time.sleep(chance.uniform(0.05, 0.6))
    return pauses


def test(ranks=None):
    tally = Tally("cuts", "cluster")
    for count in HOSTS:
        cuts = CUTS if count == 2 else max(CUTS // FEWER, 1)
        with tempfile.TemporaryDirectory() as folder, Hosts("cuts", RATE, CABLES, count) as hosts:
            if hosts.missing:
                tally.skip(f"{cuts} cuts", f"{count} hosts of network name spaces cannot be made: {hosts.missing}")
            else:
                run(tally, hosts, pathlib.Path(folder), cuts)
    tally.close()
    return tally


def run(tally, hosts, folder, cuts):
    ranks = 2 * len(hosts.spaces)
    hosts.describe(folder, 2)
    must([COMPILER, "-O2", "-o", folder / "program", PROGRAM])
    words = [LAUNCHER, "launch", "--hosts", "hosts", "--agent", folder / "agent", "-n", str(ranks), "./program", "stop",
             "counter", str(SEED)]
    with hosts.running(words, folder, {"LD_LIBRARY_PATH": str(LIBRARY)}) as process:
        judge(tally, hosts, Running(process, folder), cuts)


def judge(tally, hosts, running, cuts):
    count = len(hosts.spaces)
    if running.wait_for_rounds(10) is None:
        tally.take(f"messages pass between {count} hosts before the first cut", running.end() or "they do not")
        return
    pauses = cut_at_random(hosts, running, random.Random(SEED), cuts)
    ended = running.end()
    stopped = "messages did not pass again" if None in pauses else None
    tally.take(
        f"{len(pauses)} cuts of {count} hosts, seed {SEED}: every byte came, once and in order", stopped or ended
    )
    if not stopped:
        longest = max(pauses)
        print(f"    until messages passed again: median {statistics.median(pauses):.3f} s, longest {longest:.3f} s")
        late = f"{sum(pause > WANTED_S for pause in pauses)} took longer, up to {longest:.2f} s"
        tally.take(f"{count} hosts: messages pass again within {WANTED_S:.0f} s", late if longest > WANTED_S else None)
