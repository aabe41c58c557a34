#!/usr/bin/env python3
"""How long applications take here, and how long they take on a simulated twin of this machine, turn by turn.

The sources are those of the suite `programs` (CORNERSTONE_PROGRAMS). Two ranks run on a processor core each, for real
and as predicted: the time is what the program itself measured. The prediction runs the program's own computing on the
same cores. More ranks than processors (--ranks) share them, for real as the system places them, and on the twin by
equal numbers. With --smpi SimGrid's SMPI predicts the same programs, rebuilt by its wrapper. Nothing else should run
meanwhile.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

import common
import programs
import smpi
import twins

def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="turns of each program (7)")
    parser.add_argument("--ranks", type=int, default=2, metavar="N", help="ranks of each program (2)")
    parser.add_argument(
        "--machine", metavar="NAME", help="a machine file or name instead of the twin that is made first"
    )
    parser.add_argument("--only", metavar="PATTERN", help="only programs of such a name (* stands for anything)")
    parser.add_argument(
        "--smpi", action="store_true", help="predictions of SimGrid's SMPI, too (Debian's package libsimgrid-dev)"
    )
    given = parser.parse_args()
    if given.smpi and (name := smpi.missing()):
        parser.error(f"--smpi: there is no {name}; Debian's package libsimgrid-dev has it")
    if given.smpi and given.machine and not pathlib.Path(given.machine).is_file():
        parser.error("--smpi wants a machine file, for the latency of its network")
    if given.rounds < 1 or given.ranks < 2:
        parser.error("--rounds wants at least 1, --ranks at least 2")
    if given.ranks > os.cpu_count() and given.smpi:
        parser.error(
            f"--ranks {given.ranks} --smpi: this machine has {os.cpu_count()} processors, and its platform for SMPI "
            "has a processor for each rank"
        )
    return given


def measured(program, folder, ranks, release, options):
    """Runs a program, and checks its result. Returns the time that it measured, and its run time, in seconds."""
    launcher = (release / "cornerstone", "launch", *options)
    ended = programs.started(program, folder, ranks, launcher=launcher, environment={"LD_LIBRARY_PATH": str(release)})
    if why := programs.verdict(program, ended):
        sys.exit(f"predicted: {program.name} {' '.join(map(str, options))}: {why}")
    return program.seconds(ended.output), ended.seconds


class Predictor:
    """A predictor, with its predictions for each program: the ratios to the real times, and how long they took."""

    def __init__(self, name, predict):
        self.name, self.predict, self.errors = name, predict, []

    def begin(self):
        self.said, self.took, self.why = [], [], None

    def turn(self, *words):
        if self.why is None:
            try:
                said, took = self.predict(*words)
                self.said.append(said)
                self.took.append(took)
            except (RuntimeError, TypeError, subprocess.SubprocessError) as error:
                self.why = str(error).splitlines()[0][:100]

    def columns(self, real):
        if self.why is not None:
            return f"failed: {self.why} | | |"
        ratios = [one / other for one, other in zip(self.said, real, strict=True)]
        self.errors.append(abs(statistics.median(ratios) - 1))
        return f"{spread(self.said, '.4g')} | {spread(ratios, '.3f')} | {statistics.median(self.took):.1f} |"


def predictors(given, release, machine):
    ours = lambda program, source: measured(
        program, programs.built(program, source), given.ranks, release,
        ("--fabric", f"sim:{machine}", *twins.sharing(given.ranks)))
    theirs = lambda program, source: smpi.predicted(
        program, smpi.built(program, source), given.ranks, pathlib.Path(machine))
    return [Predictor("Cornerstone", ours)] + ([Predictor("SMPI", theirs)] if given.smpi else [])


def places(ranks):
    """Returns launcher options for the processors of real ranks. Bound round robin, ranks that compute for longer than
    others could share a processor that they do not share on the twin."""
    return ("--bind", "core") if ranks <= os.cpu_count() else ()


def spread(values, form):
    """Returns the median and the range."""
    return f"{statistics.median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def main():
    given = arguments()
    sources = common.source(programs.VARIABLE)
    if sources is None:
        sys.exit(f"predicted: {programs.VARIABLE} does not name the folder of the programs' sources")
    common.build()
    release = common.build_for_speed()
    common.only = given.only and f"{given.only} *"
    machine = given.machine or twins.twin(release / "cornerstone")
    # Each program runs in its own folder, so the path must be absolute.
    if pathlib.Path(machine).is_file():
        machine = pathlib.Path(machine).resolve()
    print(f"predicted on {machine}, {given.ranks} ranks, {given.rounds} rounds: median (range)")
    all_predictors = predictors(given, release, machine)
    columns = "".join(f" {one.name} | {one.name} / real | simulated in, s |" for one in all_predictors)
    print(f"| program | real, s |{columns}\n|---|---|{'---|' * 3 * len(all_predictors)}")
    for program, source in programs.present(sources):
        if not program.fits(given.ranks):
            continue
        folder, real = programs.built(program, source), []
        for one in all_predictors:
            one.begin()
        for _ in range(given.rounds):
            real.append(measured(program, folder, given.ranks, release, ("--fabric", "local", *places(given.ranks)))[0])
            for one in all_predictors:
                one.turn(program, source)
        cells = " ".join(one.columns(real) for one in all_predictors)
        print(f"| {program.name} | {spread(real, '.4g')} | {cells}", flush=True)
    for one in all_predictors:
        if one.errors:
            print(f"{one.name}: median error {statistics.median(one.errors):.1%}, largest {max(one.errors):.1%}")


if __name__ == "__main__":
    main()
