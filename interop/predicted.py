#!/usr/bin/env python3
"""How long applications take here, and how long they take on a simulated twin of this machine, turn by turn.

The sources are those of the suite `programs` (CORNERSTONE_PROGRAMS). Two ranks run on a processor core each, for real and as
predicted: the time is what the program itself measured. The prediction runs the program's own computing on one of the same cores.
Nothing else should run meanwhile.
"""

import argparse
import os
import statistics
import sys

import ground
import programs

# What a twin is made from.
MEASURED = ["ping-pong", "bandwidth", "two-way-bandwidth", "copy", "clock-cost"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="turns of each program (7)")
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="ranks of each program (2)")
    parser.add_argument("--machine", metavar="NAME", help="a machine file or name instead of the twin that is made first")
    parser.add_argument("--only", metavar="PATTERN", help="only programs of such a name (* stands for anything)")
    given = parser.parse_args()
    if given.rounds < 1 or given.ranks < 2:
        parser.error("--rounds wants at least 1, --ranks at least 2")
    if given.ranks > os.cpu_count():
        parser.error(f"--ranks {given.ranks}: this machine has {os.cpu_count()} processors, and ranks that share one run at "
                     "the mercy of the system")
    return given


def twin(release):
    """Measures this machine, and makes its twin; gives the machine file."""
    results, machine = ground.WORK / "predicted.jsonl", ground.WORK / "predicted-twin.toml"
    for path in (results, machine):
        path.unlink(missing_ok=True)
    ground.must([release / "cornerstone", "run", *MEASURED, "--ranks", 2, "--turns", 5, "--out", results])
    ground.must([release / "cornerstone", "calibrate", results, "--output", machine])
    return machine


def seconds(program, folder, ranks, release, options):
    """What a program that was right measured of itself."""
    launcher = (release / "cornerstone", "launch", *options)
    ended = programs.started(program, folder, ranks, launcher=launcher, environment={"LD_LIBRARY_PATH": str(release)})
    if why := programs.verdict(program, ended):
        sys.exit(f"predicted: {program.name} {' '.join(map(str, options))}: {why}")
    return program.seconds(ended.output)


def spread(values, form):
    """Median, and the whole range."""
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def main():
    given = arguments()
    sources = ground.source(programs.VARIABLE)
    if sources is None:
        sys.exit(f"predicted: {programs.VARIABLE} does not name the folder of the programs' sources")
    ground.build()
    release = ground.build_for_speed()
    ground.only = given.only and f"{given.only} *"
    machine = given.machine or twin(release)
    print(f"predicted on {machine}, {given.ranks} ranks, {given.rounds} rounds: median (range)")
    print("| program | real, s | predicted, s | predicted / real |\n|---|---|---|---|")
    errors = []
    for program, source in programs.present(sources):
        if not program.fits(given.ranks):
            continue
        folder = programs.built(program, source)
        real, predicted = [], []
        for _ in range(given.rounds):
            real.append(seconds(program, folder, given.ranks, release, ("--fabric", "local", "--bind", "core")))
            predicted.append(seconds(program, folder, given.ranks, release, ("--fabric", f"sim:{machine}")))
        ratios = [one / other for one, other in zip(predicted, real, strict=True)]
        errors.append(abs(statistics.median(ratios) - 1))
        print(f"| {program.name} | {spread(real, '.4g')} | {spread(predicted, '.4g')} | {spread(ratios, '.3f')} |", flush=True)
    if errors:
        print(f"median error {statistics.median(errors):.1%}, largest {max(errors):.1%}")


if __name__ == "__main__":
    main()
