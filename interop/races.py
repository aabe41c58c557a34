"""MPICH's tests with threads, with them and our library under the thread sanitizer."""

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
# A program that is found to race ends as it would have.
OPTIONS = {"TSAN_OPTIONS": "exitcode=0", "LD_LIBRARY_PATH": str(BUILT)}
# The sanitizer makes programs this many times slower, and some of the tests run for half a minute without it.
PATIENCE = 5
# The compiler's calls of these have no counterparts in GCC's runtime library, which has the functions themselves.
MISSING = """
#include <string.h>
void *__tsan_memcpy(void *to, const void *from, size_t bytes) { return memcpy(to, from, bytes); }
void *__tsan_memmove(void *to, const void *from, size_t bytes) { return memmove(to, from, bytes); }
void *__tsan_memset(void *to, int byte, size_t bytes) { return memset(to, byte, bytes); }
"""
COMPILE = ["cc", "-fsanitize=thread", "-fno-builtin", f"-I{INCLUDE}"]


def build():
    """Builds our library and the standard library, whose locks must be seen, with the sanitizer."""
    flags = {"RUSTC_BOOTSTRAP": "1", "RUSTFLAGS": "-Zsanitizer=thread"}
    must(["cargo", "build", "-Zbuild-std", "--quiet", "--package", "libmpi-abi", "--target", TARGET, "--target-dir", OUT],
         cwd=ROOT, env={**os.environ, **flags})
    link = BUILT / "libmpi_abi.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to("libmpi_abi.so")


def compile_one(tests, folder, program):
    return mpich.compile_one(tests, folder, program, OUT, COMPILE, [f"-L{BUILT}", "-lmpi_abi"])


def run_one(case, command, folder):
    ended = run(case.ranks, command, PATIENCE * case.limit_s, {**case.environment, **OPTIONS}, folder)
    return ended, verdict(case, ended)


def verdict(case, ended):
    """A race counts if our library has part in it: some of the programs race by themselves."""
    for report in re.findall(r"WARNING: ThreadSanitizer.*?\nSUMMARY: [^\n]*", ended.output, re.DOTALL):
        # Of what is said of an access only the place itself counts; below it every thread was started by somebody.
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
        print(f"skipped: races, because rustup cannot add the sources of the standard library: {added.stdout.strip()[-200:]}")
        return tally
    OUT.mkdir(parents=True, exist_ok=True)
    build()
    missing = OUT / "missing.c"
    missing.write_text(MISSING)
    mpich.build_shared(tests, OUT, COMPILE, [missing])
    mpich.run_all(tally, Skips("races"), tests, OUT, FOLDERS, compile_one, run_one)
    tally.close()
    return tally
