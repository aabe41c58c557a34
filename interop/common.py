"""Functions that all suites share: folders, the start of ranks, and the counts of results."""

import argparse
import fnmatch
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "interop"
# The profile that the tests build with. It optimises and keeps the checks.
BUILT = WORK.parent / "debug"
LAUNCHER = BUILT / "cornerstone"
INCLUDE = ROOT / "crates" / "libmpi-abi" / "include"
LIBRARY = WORK / "lib"
# The names in that folder, and the files to which they link.
LIBRARIES = {"libmpi_abi.so": "libmpi_abi.so", "libmpi_abi.so.1": "libmpi_abi.so", "libmpi.so.12": "libmpich_abi.so"}
COMPILER = WORK / "bin" / "mpicc"
COMPILER_CXX = WORK / "bin" / "mpicxx"

# A program that takes longer is regarded as hanging: none takes a tenth of it, even on a busy machine.
TIME_LIMIT_S = 1800


def build():
    """Builds the library and the launcher, and arranges them like an installed MPI."""
    if os.environ.get("CORNERSTONE_INTEROP_BUILT") != "1":
        command = ["cargo", "build", "--quiet", "--package", "libmpi-abi", "--package", "libmpich-abi",
                   "--package", "libvirtual-time", "--package", "cornerstone"]
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            sys.exit("interop: the library or the launcher does not build")
    for folder in (LIBRARY, COMPILER.parent):
        folder.mkdir(parents=True, exist_ok=True)
    for name, file in LIBRARIES.items():
        link = LIBRARY / name
        fresh = link.with_name(f".{name}.{os.getpid()}")
        # `cargo build` and `cargo test` both write this file. The one in the parent folder comes from `cargo build`
        # alone, and may be older.
        fresh.symlink_to(BUILT / "deps" / file)
        # In one step, because another run may be using it.
        fresh.replace(link)
    for path, compiler in ((COMPILER, "cc"), (COMPILER_CXX, "c++")):
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.write_text(
            f'#!/bin/sh\nexec {compiler} "-I{INCLUDE}" "$@" "-L{LIBRARY}" "-Wl,-rpath,{LIBRARY}" -lmpi_abi\n'
        )
        fresh.chmod(0o755)
        fresh.replace(path)


def build_for_speed():
    """Builds the library and the launcher as users have them. Returns their folder, where programs find the library."""
    release = WORK.parent / "release"
    packages = [
        word for name in ("libmpi-abi", "libprofile", "libvirtual-time", "cornerstone") for word in ("-p", name)
    ]
    must(["cargo", "build", "--release", "--quiet", *packages], cwd=ROOT)
    link = release / "libmpi_abi.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to("libmpi_abi.so")
    return release


def source(variable):
    """Returns the folder that the user names in the environment variable `variable`, or None."""
    named = os.environ.get(variable)
    if not named:
        return None
    folder = pathlib.Path(named).resolve()
    if not folder.is_dir():
        sys.exit(f"interop: {variable} names {named}, which is no folder")
    return folder


def configured(source, folder, compilers):
    """Configures, once, a copy of `source` in `folder`. `source` has a configure script and is not written to.

    In a clone all files have the time of the clone. `make` may then regard generated files as older than their sources,
    and run autoconf, of which it needs the same version. The times of the files in the copy are corrected.
    """
    if (folder / "Makefile").exists():
        return
    copy = folder / "source"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    now = time.time()
    # aclocal.m4 is generated from the .am, .ac and .m4 files, and the other files from these and from aclocal.m4.
    for age_s, names in ((20, ("aclocal.m4",)), (10, ("configure", "Makefile.in", "config.h.in"))):
        for path in (path for name in names for path in copy.rglob(name)):
            os.utime(path, (now - age_s, now - age_s))
    for path in copy.rglob("*"):
        if path.suffix in (".am", ".ac", ".m4") and path.name != "aclocal.m4":
            os.utime(path, (now - 30, now - 30))
    must([copy / "configure", "--quiet"], cwd=folder, env={**os.environ, **compilers})


def must(command, **options):
    """Runs a command, and ends the program if it fails. Prints the command's output only in that case."""
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode != 0:
        print(done.stdout[-4000:])
        sys.exit(f"interop: this failed with status {done.returncode}: {' '.join(map(str, command))}")


class Ended:
    """The end of a program. `status` is None if it hung."""

    def __init__(self, status, output, seconds):
        self.status, self.output, self.seconds = status, output, seconds

    def reason(self):
        """Returns in one line why the program counts as failed."""
        if self.status is None:
            return f"still running after {self.seconds:.0f} s"
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        telling = [line for line in lines if "MPI_ERR_" in line or "rror" in line or "FAIL" in line]
        return f"status {self.status}: {(telling or lines or ['no output'])[0][:160]}"


# The fabric of the ranks that our launcher starts: one of FABRICS, or a simulated machine.
FABRICS = ("local", "tcp", "cluster", "ofi")
fabric = "local"
# Whether the user has named the fabric.
is_named = False


def carrier(name):
    """A fabric that suites run on, as an option of the command line."""
    if name not in FABRICS and not name.startswith(("sim:", "ofi:", "cluster:ofi")):
        raise argparse.ArgumentTypeError(
            f"{name} is none of local, tcp, cluster, cluster:ofi:PROVIDER, ofi, ofi:PROVIDER and sim:MACHINE"
        )
    return name


def launching(ranks):
    """How our launcher is called for so many ranks."""
    hosts = on_two_hosts(ranks) if fabric.split(":")[0] == "cluster" else (LAUNCHER, "launch")
    return (*hosts, "--fabric", fabric)


def on_two_hosts(ranks):
    """The same for this host under two names: the ranks of each name share memory, and reach the others over TCP, or
    what the fabric names."""
    here = (ranks + 1) // 2
    return (LAUNCHER, "launch", "--host", f"localhost:{here},127.0.0.1:{max(ranks - here, 1)}")


def run(ranks, command, limit_s=TIME_LIMIT_S, environment=None, folder=None, launcher=None):
    """Runs a program with this number of ranks under our launcher, or under `launcher`."""
    begin = time.monotonic()
    launcher = launcher or launching(int(ranks))
    words = [str(word) for word in (*launcher, "-n", ranks, *command)]
    # A program was linked with the path of the folder in which it was built. This may be another checkout's folder.
    libraries = os.pathsep.join(filter(None, (str(LIBRARY), os.environ.get("LD_LIBRARY_PATH"))))
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=folder,
        env={**os.environ, "LD_LIBRARY_PATH": libraries, **(environment or {})},
    )
    try:
        output, _ = process.communicate(timeout=limit_s)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        status = None
    return Ended(status, output.decode(errors="replace"), time.monotonic() - begin)


class Skips:
    """The names of what is outside the profile, with reasons: lines of `name: reason`. A * matches anything."""

    def __init__(self, suite):
        self.reasons = {}
        for line in (ROOT / "interop" / "skips" / f"{suite}.txt").read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                name, reason = line.split(": ", 1)
                self.reasons[name.strip()] = reason.strip()

    def reason(self, name):
        return next((why for skip, why in self.reasons.items() if fnmatch.fnmatchcase(name, skip)), None)


def outside(ended):
    """Returns why a failed program need not pass: it calls a function outside the profile. Otherwise returns None."""
    called = re.search(r"(MPI_\w+): MPI_ERR_UNSUPPORTED_OPERATION", ended.output)
    reason = called and Skips("functions").reason(re.sub(r"_c$", "", called.group(1)))
    return f"calls {called.group(1)}: {reason}" if reason else None


# The pattern that names must match to be run. None matches every name.
only = None


def selected(name):
    return only is None or fnmatch.fnmatchcase(name, only)


class Tally:
    """Counts the passed, failed and skipped tests of a suite over a fabric, and prints each result at once."""

    def __init__(self, suite, over=None):
        self.suite, self.over = suite, over or fabric
        self.passed, self.failures, self.skipped = 0, [], 0

    def take(self, name, failure=None):
        if failure is None:
            self.passed += 1
            print(f"  passed  {self.suite}: {name}", flush=True)
        else:
            self.failures.append((name, failure))
            print(f"  FAILED  {self.suite}: {name}: {failure}", flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        print(f"  skipped {self.suite}: {name}: {reason}", flush=True)

    def close(self):
        # The format is that of cargo, so that one script can count the results of all suites.
        state = "FAILED" if self.failures else "ok"
        print(
            f"test result: {state}. {self.passed} passed; {len(self.failures)} failed; "
            f"{self.skipped} ignored; {self.suite} over {self.over}",
            flush=True,
        )
