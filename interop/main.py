#!/usr/bin/env python3
"""Random programs, and programs that nobody here wrote, against our MPI header and library.

Suites: random (our own, held against MPICH), mpi4py (its wheel from the Python package index), mpich-abi (programs that
Debian has built against MPICH), wheel (what `make wheel` makes, with mpi4py built by it and tested), cuts (300 cuts of
cables between two to four hosts of network name spaces; root only), faults (the rate over time around a cut and around
congestion on such hosts, beside a simulated machine of the same facts; root only), osu, imb, mpich, races, fortran,
libraries, mbi, programs (each from a folder that you name in the environment):
  CORNERSTONE_OSU_SOURCE sources of the OSU micro-benchmarks 7: the folder with their `configure`
  CORNERSTONE_IMB    sources of the Intel MPI benchmarks: the folder with `src_cpp`
  CORNERSTONE_MPICH  sources of MPICH: the folder with `test/mpi`
  CORNERSTONE_MPIF_SOURCE sources of mpif, bindings for Fortran; with CORNERSTONE_MPICH MPICH's tests in Fortran, too
  CORNERSTONE_LIBRARIES folder of folders: hypre, PnetCDF, those that are there
  CORNERSTONE_MBI    sources of the MPI Bugs Initiative: the folder with `scripts`
  CORNERSTONE_PROGRAMS folder of folders: LULESH, CoMD, hpcg, AMG, miniAMR, Quicksilver, graph500, those that are there
A suite without its folder is skipped by name. What lies outside the profile is listed, with reasons, in interop/skips.
"""

import argparse
import sys

import cuts
import faults
import fortran
import common
import imb
import libraries
import mbi
import mpi4py_suite
import mpich
import mpich_abi
import osu
import programs
import races
import random_programs
import wheel
from common import build, source

OWN = {"random": random_programs, "mpi4py": mpi4py_suite, "mpich-abi": mpich_abi, "wheel": wheel, "cuts": cuts,
       "faults": faults}
FROM_SOURCE = {
    "osu": osu,
    "imb": imb,
    "mpich": mpich,
    "races": races,
    "fortran": fortran,
    "libraries": libraries,
    "mbi": mbi,
    "programs": programs,
}


def arguments():
    parser = argparse.ArgumentParser(
        prog="interop/main.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "suites",
        nargs="*",
        metavar="SUITE",
        help=(
            "random, mpi4py, mpich-abi, wheel, cuts, faults, osu, imb, mpich, races, fortran, libraries, mbi, "
            "programs; all if none is named"
        ),
    )
    parser.add_argument("--ranks", metavar="N,N,...", help="the numbers of ranks, instead of each suite's own")
    parser.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        help="the number of random programs for all libraries, instead of 300; fewer of those that take longer",
    )
    parser.add_argument(
        "--fabric",
        type=common.carrier,
        metavar="FABRIC",
        help=(
            "what carries the messages: local (shared memory, the default), tcp, cluster (two hosts by name), "
            "cluster:ofi:PROVIDER (the same), ofi, ofi:PROVIDER or sim:MACHINE; random always runs on all of these, "
            "and programs without it on local, tcp and the twin of this machine"
        ),
    )
    parser.add_argument(
        "--only", metavar="PATTERN", help="only what has a name like this, as they are printed (* stands for anything)"
    )
    given = parser.parse_args()
    known = [*OWN, *FROM_SOURCE]
    for name in given.suites:
        if name not in known:
            parser.error(f"no suite is named {name}; the suites are {', '.join(known)}")
    given.suites = given.suites or known
    if given.seeds and "random" not in given.suites:
        parser.error("--seeds is for the suite random")
    if given.seeds is not None and given.seeds < 1:
        parser.error(f"--seeds wants a number from 1 on, not {given.seeds}")
    try:
        given.ranks = tuple(int(word) for word in given.ranks.split(",")) if given.ranks else None
    except ValueError:
        parser.error(f"--ranks wants numbers with commas between, not {given.ranks}")
    return given


def test(name, given):
    """Runs a suite. Returns its tally, or None if it cannot run on this machine."""
    ranks = given.ranks
    if name in OWN:
        seeds = {"seeds": given.seeds} if given.seeds and name == "random" else {}
        return OWN[name].test(**({"ranks": ranks} if ranks else {}), **seeds)
    suite = FROM_SOURCE[name]
    folder = source(suite.VARIABLE)
    if folder is None:
        print(f"skipped: {name}, because {suite.VARIABLE} does not name its sources")
        return None
    return suite.test(folder, *([ranks] if ranks else []))


def main():
    given = arguments()
    common.only, common.fabric, common.is_named = given.only, given.fabric or common.fabric, given.fabric is not None
    build()
    tallies = []
    for name in given.suites:
        print(f"== {name}", flush=True)
        tallies.append(test(name, given))
    tallies = [tally for tally in tallies if tally]
    failures = [(tally.suite, *failure) for tally in tallies for failure in tally.failures]
    if failures:
        print("failures:")
        for suite, name, why in failures:
            print(f"  {suite}: {name}: {why}")
    passed, skipped = sum(tally.passed for tally in tallies), sum(tally.skipped for tally in tallies)
    print(f"interop: {passed} passed, {len(failures)} failed, {skipped} skipped, over {common.fabric}")
    sys.exit(1 if failures else 0)


main()
