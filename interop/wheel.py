"""The wheel of `make wheel`. It is built for old systems and installed into a new environment, in which its mpicc
builds mpi4py."""

import os
import shutil
import sys

import mpi4py_suite
from common import ROOT, WORK, Tally, must, run

RANKS = (2,)
FOLDER = WORK / "wheel"
# The maximum size of a wheel.
LIMIT_MIB = 10
HELLO = r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("received %d\n", rank);
    return MPI_Finalize();
}
"""


def hello(tally, ranks, programs, label):
    """Runs a program of mpi4py in the environment with these programs, without any variable that names a library."""
    for launcher in ("mpiexec", "mpirun"):
        for count in ranks:
            command = [programs / "python3", "-m", "mpi4py.bench", "helloworld"]
            ended = run(count, command, launcher=(programs / launcher,), environment={"LD_LIBRARY_PATH": ""})
            whole = ended.status == 0 and ended.output.count("Hello, World!") == count
            tally.take(f"{label}, by {launcher} at {count} ranks", None if whole else ended.reason())


def test(ranks=RANKS):
    tally = Tally("wheel")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    must([sys.executable, ROOT / "packaging" / "package.py", "wheel", "--out", FOLDER])
    (wheel,) = FOLDER.glob("*.whl")
    size = wheel.stat().st_size / 2**20
    tally.take(f"{wheel.name} weighs at most {LIMIT_MIB} MiB", None if size <= LIMIT_MIB else f"it weighs {size:.1f}")
    tally.take("it asks for glibc 2.28", None if "manylinux_2_28" in wheel.name else wheel.name)
    environment = FOLDER / "venv"
    must([sys.executable, "-m", "venv", environment])
    programs = environment / "bin"
    pip = [programs / "python3", "-m", "pip", "--quiet", "--disable-pip-version-check"]
    must([*pip, "install", "--no-index", wheel])
    (FOLDER / "hello.c").write_text(HELLO)
    must([programs / "mpicc", "-o", FOLDER / "hello", FOLDER / "hello.c"])
    own = {"LD_LIBRARY_PATH": ""}
    for count in ranks:
        ended = run(count, [FOLDER / "hello"], launcher=(programs / "mpiexec",), environment=own)
        whole = ended.status == 0 and ended.output == "received 0\n" * count
        tally.take(f"a program at {count} ranks", None if whole else ended.reason())
    if mpi4py_suite.fetch(pip):
        path = {"PATH": os.pathsep.join((str(programs), os.environ["PATH"])), "CFLAGS": "-O0 -g0"}
        must([*pip, "install", mpi4py_suite.SOURCE], env={**os.environ, **path})
        hello(tally, ranks, programs, "mpi4py built by its mpicc")
        must([*pip, "install", "--only-binary", ":all:", "numpy"])
        mpi4py_suite.test_modules(tally, programs / "python3", ranks)
    theirs = f"mpi4py=={mpi4py_suite.VERSION}"
    for place, order in (("before", (wheel, theirs)), ("after", (theirs, wheel))):
        environment = FOLDER / f"venv-{place}"
        must([sys.executable, "-m", "venv", environment])
        pip[0] = environment / "bin" / "python3"
        for package in order:
            must([*pip, "install", "--only-binary", ":all:", package])
        hello(tally, ranks, environment / "bin", f"PyPI's wheel of mpi4py, this one installed {place} it")
    tally.close()
    return tally
