"""MPICH's tests with threads. Both the tests and our library are built with the thread sanitizer."""

import os
import re
import subprocess

import installed
import mpich
from common import INCLUDE, ROOT, WORK, Skips, Tally, must, run

VARIABLE = mpich.VARIABLE
FOLDERS = [folder for folder in mpich.FOLDERS if folder.startswith("threads/")]
OUT = WORK / "races"
TARGET = "x86_64-unknown-linux-gnu"
BUILT = OUT / TARGET / "debug"
# A program with a data race ends as it would without the sanitizer.
OPTIONS = {"TSAN_OPTIONS": "exitcode=0", "LD_LIBRARY_PATH": str(BUILT)}
# The factor of the time limit. The sanitizer slows programs down, and some tests run for half a minute without it.
TIMES_AS_LONG = 5
# The compiler calls these functions. GCC's runtime library has only the functions that they call.
MISSING = """
#include <string.h>
void *__tsan_memcpy(void *to, const void *from, size_t bytes) { return memcpy(to, from, bytes); }
void *__tsan_memmove(void *to, const void *from, size_t bytes) { return memmove(to, from, bytes); }
void *__tsan_memset(void *to, int byte, size_t bytes) { return memset(to, byte, bytes); }
"""
COMPILE = ["cc", "-fsanitize=thread", "-fno-builtin", f"-I{INCLUDE}"]


def build():
    """Builds our library and the standard library with the sanitizer, which must see the locks of both."""
    flags = {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": "-Zsanitizer=thread"}
    must(
        [
            "cargo",
            "build",
            "-Zbuild-std",
            "--quiet",
            "--package",
            "libmpi-abi",
            "--target",
            TARGET,
            "--target-dir",
            OUT,
        ],
        cwd=ROOT,
        env={**os.environ, **flags},
    )
    link = BUILT / "libmpi_abi.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to("libmpi_abi.so")


def compile_one(tests, folder, program):
    return mpich.compile_one(tests, folder, program, OUT, COMPILE, [f"-L{BUILT}", "-lmpi_abi"])


def run_one(case, command, folder):
    ended = run(case.ranks, command, TIMES_AS_LONG * case.limit_s, {**case.environment, **OPTIONS}, folder)
    return ended, verdict(case, ended)


def verdict(case, ended):
    """Returns why a run failed, or None. A race counts if our library takes part: some programs race by themselves."""
    for report in re.findall(r"WARNING: ThreadSanitizer.*?\nSUMMARY: [^\n]*", ended.output, re.DOTALL):
        # Only the first frame of an access counts. The frames below it always contain the start of the thread.
        places = re.findall(r"^    #0 (.*)", re.split(r"\n  (?:Location|Thread|Mutex|As if)", report)[0], re.MULTILINE)
        if any("libmpi_abi" in place for place in places):
            return report.rpartition("SUMMARY: ")[2]
    return mpich.verdict(case, ended)


def test(source, _ranks=None):
    tests = source / "test" / "mpi"
    tally = Tally("races")
    if lacking := installed.missing("cc", "rustup"):
        print(f"skipped: races, because there is no {lacking}")
        return tally
    added = subprocess.run(["rustup", "component", "add", "rust-src"], cwd=ROOT, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    if added.returncode != 0:
        print(
            f"skipped: races, because rustup cannot add the sources of the standard library: "
            f"{added.stdout.strip()[-200:]}"
        )
        return tally
    OUT.mkdir(parents=True, exist_ok=True)
    build()
    missing = OUT / "missing.c"
    missing.write_text(MISSING)
    mpich.build_shared(tests, OUT, COMPILE, [missing])
    mpich.run_all(tally, Skips("races"), tests, OUT, FOLDERS, compile_one, run_one)
    tally.close()
    return tally
