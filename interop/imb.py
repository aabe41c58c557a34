"""The Intel MPI benchmarks for MPI-1, non-blocking collectives, one-sided communication, files and threads, with their
own check of the data."""

import os
import shutil

from common import COMPILER, COMPILER_CXX, WORK, Skips, Tally, must, run, selected

VARIABLE = "CORNERSTONE_IMB"
RANKS = (2, 4, 8)
SUITES = ("IMB-MPI1", "IMB-NBC", "IMB-RMA", "IMB-IO", "IMB-MT")

# Few repetitions up to 1 MiB, because these runs check correctness, not time. CHECK enables the check of every message.
THREADS = ["-thread_level", "multiple", "-count", "1,1024", "-repeat", "5", "-check", "true"]
OPTIONS = ["-iter", "5", "-msglog", "0:20", "-time", "5", "-npmin"]


def build(source):
    """Builds once, in a copy, because the makefile writes into the folder of the sources."""
    programs = {}
    for suite in SUITES:
        folder = WORK / suite.lower()
        if not folder.exists():
            shutil.copytree(source, folder, ignore=shutil.ignore_patterns(".git"))
        # For OpenMP the makefile has only the option of Intel's compiler.
        threads = " -fopenmp" if suite == "IMB-MT" else ""
        flags = [f"CC={COMPILER}{threads}", f"CXX={COMPILER_CXX}{threads}", "CPPFLAGS=-DCHECK"]
        must(["make", "-C", folder, suite, f"-j{os.cpu_count()}"] + flags)
        programs[suite] = folder / suite
    return programs


def benchmarks(program):
    """Returns the names of the benchmarks, which the program lists."""
    listed = run(1, [program, "-list"]).output.splitlines()
    words = [line.strip() for line in listed]
    return [
        word for word in words if word and word.replace("_", "").isalnum() and word[0].isupper() and " " not in word
    ]


def verdict(ended):
    if ended.status != 0:
        return ended.reason()
    if "All processes entering MPI_Finalize" not in ended.output and "#---" not in ended.output:
        return "it measured nothing"
    wrong = [line for line in ended.output.splitlines() if "rror" in line or "INVALID" in line]
    return wrong[0] if wrong else None


def test(source, ranks=RANKS):
    tally, skips = Tally("imb"), Skips("imb")
    for suite, program in build(source).items():
        for name in benchmarks(program):
            for count in ranks:
                label = f"{suite} {name} at {count} ranks"
                if not selected(label):
                    continue
                reason = skips.reason(f"{suite} {name}")
                if reason:
                    tally.skip(label, reason)
                    continue
                # The benchmarks of files write them into the current folder.
                command = [program, name, *(THREADS if suite == "IMB-MT" else OPTIONS + [str(count)])]
                tally.take(label, verdict(run(count, command, folder=program.parent)))
    tally.close()
    return tally
