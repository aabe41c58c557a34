"""The test suite of mpi4py, from the Python package index, built against our header and library."""

import os
import re
import subprocess
import sys
import tarfile

import common
from common import COMPILER, TIME_LIMIT_S, WORK, Skips, Tally, must, run, selected

VERSION = "4.1.2"
RANKS = (1, 2, 4, 8)
# What these modules test is the matter of each rank alone, so more ranks would ask the same again.
OF_ONE_RANK = {"test_datatype", "test_pack", "test_util_dtlib"}
FOLDER = WORK / "mpi4py"
PYTHON = FOLDER / "venv" / "bin" / "python3"
SOURCE = FOLDER / f"mpi4py-{VERSION}"


def fetch(pip):
    """Fetches the sources once. If that is impossible, prints the reason and returns False."""
    if not SOURCE.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        command = pip + ["download", "--no-deps", "--no-binary", "mpi4py", f"mpi4py=={VERSION}", "--dest", FOLDER]
        got = subprocess.run(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if got.returncode != 0:
            print(
                f"skipped: mpi4py's own tests, because pip cannot fetch mpi4py {VERSION}: {got.stdout.strip()[-200:]}"
            )
            return False
        with tarfile.open(FOLDER / f"mpi4py-{VERSION}.tar.gz") as archive:
            # Versions of Python before 3.11.4 have no filter.
            archive.extractall(FOLDER, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return True


def build():
    """Fetches and builds once. Returns False if that is impossible."""
    if not PYTHON.exists():
        must([sys.executable, "-m", "venv", FOLDER / "venv"])
    pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    if not fetch(pip):
        return False
    if subprocess.run([str(PYTHON), "-c", "import mpi4py, numpy"], stderr=subprocess.DEVNULL).returncode != 0:
        # The speed of the binding does not matter here, and optimising its one large file takes long.
        must(pip + ["install", "numpy", SOURCE], env={**os.environ, "MPICC": str(COMPILER), "CFLAGS": "-O0 -g0"})
    return True


def verdict(ended):
    if ended.status == 0:
        # A module that finds no test would otherwise pass. Ranks write into one stream, so the words need not begin a
        # line.
        if re.search(r"Ran [1-9]\d* tests? in ", ended.output):
            return None
        return f"it ran no tests, and wrote {ended.output[-300:]!r}"
    names = re.findall(r"^(?:ERROR|FAIL): (\S+ \([^)]*\))", ended.output, re.MULTILINE)
    if ended.status is None or not names:
        return ended.reason()
    return "; ".join(dict.fromkeys(names))


def test_modules(tally, python, ranks, environment=None):
    """Runs every module of the tests with a Python interpreter that has mpi4py."""
    skips = Skips("mpi4py")
    over = f" over {common.fabric.partition(':')[0]}"
    here = {name.removesuffix(over) for name in skips.reasons if " over " not in name or name.endswith(over)}
    modules = sorted(path.stem for path in (SOURCE / "test").glob("test_*.py"))
    # Parts of modules that are outside the profile, for the suite's own option.
    apart = [option for name in sorted(here) if "." in name for option in ("-x", name)]
    for count in ranks:
        for module in modules:
            if module in OF_ONE_RANK and count != ranks[0]:
                continue
            label = f"{module} at {count} ranks"
            if not selected(label):
                continue
            # A line names a module, or a module at a number of ranks or over a fabric.
            reason = skips.reason(module) or skips.reason(label) or skips.reason(module + over)
            if reason:
                tally.skip(label, reason)
                continue
            command = [python, SOURCE / "test" / "main.py", "--quiet", "-i", rf"\b{module}\.py$"] + apart
            # Each rank is a Python process, so the work grows with the ranks, and the number of processors does not.
            limit_s = TIME_LIMIT_S * max(1, count // 2)
            tally.take(label, verdict(run(count, command, limit_s=limit_s, environment=environment)))


def test(ranks=RANKS):
    if not build():
        return None
    tally = Tally("mpi4py")
    test_modules(tally, PYTHON, ranks)
    tally.close()
    return tally
