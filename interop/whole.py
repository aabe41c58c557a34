#!/usr/bin/env python3
"""Whole programs from start to end under our MPI library and under others, turn by turn in one run.

  CORNERSTONE_PROGRAMS   the sources of the suite `programs` (interop/README.md)
  CORNERSTONE_MPI_ROOTS  installations of MPICH 5 and Intel MPI, with colons between: folders with bin/mpiexec

One build of each program runs under every library, for all have the standard ABI. The time is that of the launcher's
whole process: it includes the start and the end of the ranks. Ranks are not bound to processors, for there may be more
of them; every library gets its own options for that. A library that takes more than four times as long as the best is
measured once. Nothing else should run meanwhile.

Rows are `empty` (a program that only starts and ends), the applications by name, and `mpi4py` (its own test suite,
which Intel MPI ends with an error: some of its functions end the program where the standard wants an error code).
"""

import argparse
import math
import pathlib
import statistics
import sys
import time

import common
import installations
import mpi4py_suite
import programs

RANKS = (2, 4, 8, 16)
EMPTY_RANKS = (2, 16, 64)
# Parts of mpi4py's suite that are not compared. The first ones start processes or need a certain number of ranks. The
# last two send nothing, and would take two thirds of the time, in Python.
MPI4PY_LEFT_OUT = ("test_spawn", "test_dynproc", "test_util_pool", "test_ulfm", "test_exceptions", "test_toplevel",
                   "test_util_dtlib", "test_datatype")
# The limit for two ranks. Ranks that share processors take longer in proportion to their number.
TIME_LIMIT_S = 300
TOO_SLOW = 4


class Peer:
    """A library, and how its ranks are started."""

    def __init__(self, name, launcher, environment):
        self.name, self.launcher, self.environment = name, launcher, environment

    def seconds(self, ranks, command, folder):
        """Returns the seconds from start to end, or None if the program failed or took longer than the limit."""
        begin = time.monotonic()
        ended = common.run(
            ranks,
            command,
            limit_s=TIME_LIMIT_S * max(1, ranks // 2),
            folder=folder,
            launcher=self.launcher,
            environment=self.environment,
        )
        took = time.monotonic() - begin
        if ended.status != 0:
            print(f"{self.name}: {pathlib.Path(command[0]).name} at {ranks} ranks: {ended.reason()}", file=sys.stderr)
            return None
        return took


def peers(release):
    """Returns our library first, and then the other installed libraries."""
    yield Peer("ours", [release / "cornerstone", "launch"], {"LD_LIBRARY_PATH": str(release)})
    for one in installations.of_the_standard_abi():
        yield Peer(one.name, [one.mpiexec], {**one.environment, **one.yielding})


def empty():
    """Builds a program that only starts and ends."""
    folder = common.WORK / "empty"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "empty.c"
    source.write_text("#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n")
    common.must([common.COMPILER, "-O2", source, "-o", folder / "empty"])
    return folder / "empty"


def rows(names, all_ranks):
    """Returns name, ranks, command and folder of every selected row."""
    wants = lambda name: not names or name in names
    if wants("empty"):
        program = empty()
        for ranks in all_ranks or EMPTY_RANKS:
            yield "empty", ranks, [program], common.WORK
    sources = common.source(programs.VARIABLE)
    for program, source in programs.present(sources) if sources else ():
        if not wants(program.name):
            continue
        folder = programs.built(program, source)
        place = folder / "results"
        place.mkdir(exist_ok=True)
        for ranks in filter(program.fits, all_ranks or RANKS):
            yield program.name, ranks, program.command(folder, ranks), place
    if wants("mpi4py") and (python := mpi4py_suite.built()):
        left_out = [word for name in MPI4PY_LEFT_OUT for word in ("-e", rf"\b{name}\.py$")]
        command = [python, mpi4py_suite.SOURCE / "test" / "main.py", "--quiet", *left_out]
        for ranks in all_ranks or RANKS:
            yield "mpi4py", ranks, command, common.WORK


def measured(all_peers, ranks, command, folder, rounds):
    """Returns the times of each library, measured turn by turn."""
    times = {peer.name: [] for peer in all_peers}
    dropped = set()
    for _ in range(rounds):
        for peer in all_peers:
            if peer.name in dropped:
                continue
            took = peer.seconds(ranks, command, folder)
            if took is None:
                times[peer.name], _ = [], dropped.add(peer.name)
            else:
                times[peer.name].append(took)
        best = min((min(of) for of in times.values() if of), default=math.inf)
        dropped |= {name for name, of in times.items() if of and min(of) > TOO_SLOW * best}
    return times


def cell(times):
    if not times:
        return "failed"
    middle = statistics.median(times)
    return f"{middle:.3g}" if len(times) == 1 else f"{middle:.3g} ({min(times):.3g} to {max(times):.3g})"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="rows to measure [default: all]")
    parser.add_argument("--ranks", type=lambda text: [int(word) for word in text.split(",")], metavar="LIST",
                        help="numbers of ranks (2,4,8,16; 2,16,64 for `empty`)")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="turns of each row (3)")
    given = parser.parse_args()
    known = {"empty", "mpi4py", *(program.name for program in programs.ALL)}
    if unknown := [row for row in given.rows if row not in known]:
        parser.error(f"no row {unknown[0]}; there are {', '.join(sorted(known))}")
    if given.rounds < 1:
        parser.error("--rounds wants a number from 1 on")
    return given


def main():
    given = arguments()
    common.build()
    release = common.build_for_speed()
    all_peers = list(peers(release))
    if len(all_peers) == 1:
        print(
            "skipped: whole programs beside other MPIs, because CORNERSTONE_MPI_ROOTS names no MPI of the standard ABI"
        )
        return
    heads = [f"{peer.name}, s" for peer in all_peers]
    print(
        f"whole process, seconds, median and range of {given.rounds} turns; ratio of ours to the better of the others"
    )
    print(f"| program | ranks | {' | '.join(heads)} | ratio |\n|---|---|{'---|' * len(heads)}---|")
    ratios = {}
    for name, ranks, command, folder in rows(given.rows, given.ranks):
        times = measured(all_peers, ranks, command, folder, given.rounds)
        ours, *others = [statistics.median(of) if of else math.inf for of in times.values()]
        ratio = ours / min(others) if min(others) < math.inf else None
        if ratio is not None:
            ratios.setdefault((name in ("empty", "mpi4py") and name, ranks), []).append(ratio)
        told = "-" if ratio is None else f"{ratio:.2f}"
        print(f"| {name} | {ranks} | {' | '.join(cell(of) for of in times.values())} | {told} |", flush=True)
    for (apart, ranks), of in ratios.items():
        print(
            f"{apart or 'applications'}, {ranks} ranks: geometric mean {statistics.geometric_mean(of):.2f}, largest "
            f"{max(of):.2f}"
        )


if __name__ == "__main__":
    main()
