"""The tests of mpi4py, with its wheel from the Python package index, which is built for MPICH's ABI. Our files lie in
the same environment, as pip installs them, and no variable names a library. The suite `wheel` tests the other way:
mpi4py built from its sources against our header and library."""

import os
import re
import subprocess
import sys
import tarfile

import common
from common import BUILT, COMPILER, ROOT, TIME_LIMIT_S, WORK, Skips, Tally, must, run, selected

sys.path.insert(0, str(ROOT / "packaging"))
import tree  # noqa: E402

VERSION = "4.1.2"
RANKS = (1, 2, 4, 8)
# What these modules test is the matter of each rank alone: one runs them, for more would ask the same again.
OF_ONE_RANK = {"test_datatype", "test_pack", "test_util_dtlib"}
FOLDER = WORK / "mpi4py"
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


def environment(name, what, variables=None):
    """Installs numpy and `what` into an environment once. Returns its interpreter, or None without the tests."""
    folder = FOLDER / name
    python = folder / "bin" / "python3"
    if not python.exists():
        must([sys.executable, "-m", "venv", folder])
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    if not fetch(pip):
        return None
    if subprocess.run([str(python), "-c", "import mpi4py, numpy"], stderr=subprocess.DEVNULL).returncode != 0:
        must([*pip, "install", "--only-binary", "numpy", "numpy", what], env={**os.environ, **(variables or {})})
    return python


def installed():
    """Returns an interpreter with the wheel and our files, or None."""
    python = environment("installed", f"mpi4py=={VERSION}")
    if python:
        tree.place_files(python.parent.parent, BUILT)
    return python


def built():
    """Returns an interpreter with mpi4py built against our header, for any library of the standard ABI, or None."""
    # The speed of the binding does not matter, and optimising its one large file takes long.
    return environment("built", SOURCE, {"MPICC": str(COMPILER), "CFLAGS": "-O0 -g0"})


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


def modules_to_run(tally, count, of_one_rank):
    """The modules for this number of ranks. The tally takes those that are skipped."""
    skips = Skips("mpi4py")
    for path in sorted((SOURCE / "test").glob("test_*.py")):
        module = path.stem
        label = f"{module} at {count} ranks"
        if (module in OF_ONE_RANK) != of_one_rank or not selected(label):
            continue
        # A line names a module, or a module at a number of ranks or over a fabric.
        reason = skips.reason(module) or skips.reason(label) or skips.reason(module + over_fabric())
        if reason:
            tally.skip(label, reason)
        else:
            yield module


def over_fabric():
    return f" over {common.fabric.partition(':')[0]}"


def test_modules(tally, python, ranks, environment=None):
    """Runs the modules of the tests with a Python interpreter that has mpi4py: all in one launch, as its authors do."""
    over = over_fabric()
    here = {name.removesuffix(over) for name in Skips("mpi4py").reasons if " over " not in name or name.endswith(over)}
    # Parts of modules that are outside the profile, for the suite's own option.
    separate = [option for name in sorted(here) if "." in name for option in ("-x", name)]
    for count, of_one_rank in [(1, True), *((count, False) for count in ranks)]:
        modules = list(modules_to_run(tally, count, of_one_rank))
        if not modules:
            continue
        chosen = rf"\b({'|'.join(modules)})\.py$"
        command = [python, SOURCE / "test" / "main.py", "--quiet", "-i", chosen, *separate]
        # Each rank is a Python process, so the work grows with the ranks, and the number of processors does not.
        ended = run(count, command, limit_s=TIME_LIMIT_S * max(1, count // 2), environment=environment)
        tally.take(f"{len(modules)} modules at {count} ranks", verdict(ended))


def test(ranks=RANKS):
    python = installed()
    if python is None:
        return None
    tally = Tally("mpi4py")
    test_modules(tally, python, ranks, {"LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")})
    tally.close()
    return tally
