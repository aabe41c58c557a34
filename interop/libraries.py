"""Libraries for parallel programs, built over an installation of Cornerstone, with their own tests."""

import os
import re
import shutil
import subprocess

import installed
from common import WORK, Tally, must, selected

VARIABLE = "CORNERSTONE_LIBRARIES"
OUT = WORK / "libraries"
MPI = OUT / "mpi"
TIME_LIMIT_S = 1200


class Hypre:
    """Solvers of linear systems. Its tests compare residuals with those of its authors."""

    name = "hypre"
    tools = ("make",)
    folder = "src"
    build = [["./configure", "CC=mpicc", "CXX=mpicxx", "--disable-fortran", f"--with-MPI-include={MPI}/include",
              f"--with-MPI-lib-dirs={MPI}/lib", "--with-MPI-libs=mpi_abi"]]
    # The pattern of a result: its name and its outcome.
    tests = [(["make", "checkpar", "CHECKRUN=mpiexec -n"], r"(?P<how>OK|FAILED)\s*: (?P<name>TEST_\S+)\.err")]
    good = ("OK",)

    @staticmethod
    def prepare(folder):
        """Does nothing, because the configure script is among the sources."""


class PnetCDF:
    """Files of netCDF, which many ranks write and read together through MPI-IO."""

    name = "PnetCDF"
    tools = ("make", "m4", "autoreconf", "libtoolize")
    folder = "."
    build = [
        ["autoreconf", "--force", "--install"],
        [
            "./configure",
            "--silent",
            "--disable-shared",
            "--disable-fortran",
            "--disable-cxx",
            "MPICC=mpicc",
            "MPICXX=mpicxx",
        ],
    ]
    tests = [(["make", "-s", "check"], r"^(?P<how>PASS|SKIP|FAIL|XPASS|ERROR): (?P<name>\S+)"),
             (["make", "-s", "ptests"], r"^\*\*\* TESTING +(?P<name>.*?) +-- +(?P<how>\w+)")]
    good = ("PASS", "pass")

    @staticmethod
    def prepare(folder):
        """Removes the line that requires the newest libtool, which current distributions do not have."""
        script = folder / "configure.ac"
        script.write_text(re.sub(r"^LT_PREREQ.*\n", "", script.read_text(), flags=re.MULTILINE))


ALL = (Hypre, PnetCDF)


def built(library, sources):
    """Builds a copy of a library's sources, once. Returns the folder with its makefile."""
    copy = OUT / library.name
    folder = copy / library.folder
    done = copy / "built"
    if not done.exists():
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(sources, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        library.prepare(folder)
        for command in [*library.build, ["make", f"-j{os.cpu_count()}"]]:
            must(command, cwd=folder, env=installed.environment(MPI))
        done.touch()
    return folder


def test_library(tally, library, sources):
    folder = built(library, sources)
    for command, words in library.tests:
        label = f"{library.name}: {' '.join(command)}"
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=installed.environment(MPI),
                stdin=subprocess.DEVNULL,
                text=True,
                errors="replace",
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=TIME_LIMIT_S,
            )
        except subprocess.TimeoutExpired:
            tally.take(label, f"still running after {TIME_LIMIT_S} s")
            continue
        results = [found.group("name", "how") for found in re.finditer(words, done.stdout, re.MULTILINE)]
        for number, (name, how) in enumerate(results):
            # A program may run several times, with different numbers of ranks.
            repeated = sum(one == name for one, _ in results[:number])
            title = f"{library.name}/{name}" + (f" ({repeated + 1})" if repeated else "")
            if how.lower() == "skip":
                tally.skip(title, "it skips itself")
            else:
                tally.take(title, None if how in library.good else f"{how}: see `{label}`")
        if not results or done.returncode != 0:
            tally.take(label, f"status {done.returncode}, {len(results)} results: {done.stdout.strip()[-300:]}")


def test(sources, _ranks=None):
    tally = Tally("libraries")
    installed.place(MPI)
    for library in ALL:
        if not (sources / library.name).is_dir():
            print(f"skipped: {library.name}, because {sources} has no folder of that name")
        elif lacking := installed.missing(*library.tools):
            print(f"skipped: {library.name}, because there is no {lacking}")
        elif selected(library.name):
            test_library(tally, library, sources / library.name)
    tally.close()
    return tally
