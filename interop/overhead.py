#!/usr/bin/env python3
"""What `launch --report` costs a program: nanoseconds more for each call, with it and without, turn by turn.
With --check, what `launch --check` costs the programs instead.

Programs named on the command line are timed too, each as one word: its number of ranks, a colon, the program and its
arguments:
  interop/overhead.py '8:./lulesh2.0 -s 20 -i 50' '2:./CoMD-mpi -i 2 -j 1 -k 1'
For these it prints the median of the turns with its 95 % interval. Nothing else should run meanwhile. The status is 1
if a call costs more than it may, or a program loses more than it may.
"""

import argparse
import math
import os
import pathlib
import statistics
import subprocess
import sys
import time

import common

MOST_NS = 20
REPORT, CHECK = "--report=/dev/null", "--check"
# The largest share by which a program may take longer with each option.
MOST_SHARE = {REPORT: 0.02, CHECK: 0.15}
ROUNDS = 11


def launched(ranks, words, options):
    """Runs a program under our release launcher. Returns its output, and the seconds that it took."""
    release = common.WORK.parent / "release"
    command = [release / "cornerstone", "launch", "-n", ranks, "--bind", "core" if ranks <= os.cpu_count() else "none",
               *options, *words]
    libraries = os.pathsep.join(filter(None, (str(release), os.environ.get("LD_LIBRARY_PATH"))))
    begin = time.monotonic()
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "LD_LIBRARY_PATH": libraries}, timeout=common.TIME_LIMIT_S)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        sys.exit(f"overhead: status {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout, seconds


def calls():
    """Returns the nanoseconds of each kind of call, without and with a report, in all rounds."""
    program = common.WORK / "overhead"
    common.must([common.COMPILER, "-O2", common.ROOT / "interop" / "overhead.c", "-o", program])
    found = {}
    for _ in range(ROUNDS):
        for reports in (False, True):
            output, _ = launched(2, [program], [REPORT] if reports else [])
            for line in output.splitlines():
                name, value = line.split()
                found.setdefault(name, ([], []))[reports].append(float(value))
    return found


def outside(n):
    """Returns how many of n values lie outside the 95 % interval of their median at each end."""
    chance, outer = 0.5 ** n, 0
    while chance + math.comb(n, outer + 1) * 0.5 ** n <= 0.025:
        outer += 1
        chance += math.comb(n, outer) * 0.5 ** n
    return outer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="RANKS:PROGRAM")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="turns of each program (11)")
    parser.add_argument("--check", action="store_const", const=CHECK, default=REPORT, dest="option",
                        help="the cost of --check for the programs")
    given = parser.parse_args()
    common.build_for_speed()
    common.build()
    missed = False
    print(f"| what | without | with {given.option} | more |\n|---|---|---|---|")
    for name, (without, observed) in calls().items() if given.option == REPORT else []:
        more = statistics.median(observed) - statistics.median(without)
        missed |= more > MOST_NS
        print(
            f"| {name} | {statistics.median(without):.1f} ns | {statistics.median(observed):.1f} ns | {more:.1f} ns |"
        )
    for program in given.programs:
        ranks, _, words = program.partition(":")
        times = ([], [])
        for turn in range(given.rounds):
            # Either goes first in every other turn, as a machine that warms up or slows down would favour one.
            for is_observed in (turn % 2 == 0, turn % 2 == 1):
                options = [given.option] if is_observed else []
                times[is_observed].append(launched(int(ranks), words.split(), options)[1])
        shares = sorted(more / less - 1 for less, more in zip(*times, strict=True))
        share, outer = statistics.median(shares), outside(len(shares))
        missed |= share > MOST_SHARE[given.option]
        print(
            f"| {pathlib.Path(words.split()[0]).name}, {ranks} ranks | {statistics.median(times[False]):.2f} s | "
            f"{statistics.median(times[True]):.2f} s | {share:.1%} ({shares[outer]:.1%} to {shares[-1 - outer]:.1%}) |"
        )
    sys.exit(missed)


if __name__ == "__main__":
    main()
