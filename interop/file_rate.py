#!/usr/bin/env python3
"""How fast ranks write and read a file together (MPI-IO), with our library and with MPICH, turn by turn: medians in
MiB/s.

  CORNERSTONE_MPI_ROOTS  installations of MPI libraries under the standard ABI, with colons between: folders with
                         bin/mpiexec
Words are numbers of ranks (2 and 4 if there are none). The file lies in --folder, which decides what is measured.
"""

import argparse
import statistics

import common
import installations
from speed import Library


def libraries():
    """Returns our library as `cargo build` makes it, and the other libraries that can load the same program."""
    yield Library("ours", [str(common.LAUNCHER), "launch"], {"LD_LIBRARY_PATH": str(common.LIBRARY)}, {}, None)
    for one in installations.of_the_standard_abi():
        yield Library(one.name, [str(one.mpiexec)], one.environment, {}, None)


def rates(output):
    """Returns the rates of writing and of reading in MiB/s, by pattern."""
    lines = [line.rsplit(maxsplit=2) for line in output.splitlines() if line.startswith(("segments", "blocks"))]
    return {name.strip(): (float(written), float(read)) for name, written, read in lines}


def main():
    parser = argparse.ArgumentParser(prog="interop/file_rate.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", nargs="*", type=int, help="numbers of ranks")
    parser.add_argument("--folder", default="/tmp", help="where the file lies (default: %(default)s)")
    parser.add_argument("--mib", type=int, default=32, help="MiB of each rank (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each library (default: %(default)s)")
    given = parser.parse_args()
    common.build()
    program = common.WORK / "file_rate"
    common.must([common.COMPILER, "-O2", "-o", program, common.ROOT / "interop" / "file_rate.c"])
    known = list(libraries())
    for ranks in given.ranks or (2, 4):
        seen = {}
        for _ in range(given.rounds):
            for library in known:
                found = rates(library.run(ranks, [program, given.folder, given.mib]))
                for name, pair in found.items():
                    seen.setdefault(name, {}).setdefault(library.name, []).append(pair)
        print(f"\n| {ranks} ranks, MiB/s written, read | " + " | ".join(one.name for one in known) + " |")
        print("|---" * (len(known) + 1) + "|")
        for name, of in seen.items():
            cells = [" , ".join(f"{statistics.median(way):.0f}" for way in zip(*of[one.name])) for one in known]
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
