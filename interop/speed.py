#!/usr/bin/env python3
"""Our MPI library against others, judged by the OSU micro-benchmarks: one run, turn by turn, medians, ratios to the best peer.

  CORNERSTONE_OSU_SOURCE sources of the OSU micro-benchmarks 7: the folder with their `configure`
  CORNERSTONE_MPI_ROOTS  installations of MPICH 5, Intel MPI and Open MPI 5, with colons between: folders with bin/mpiexec
  CORNERSTONE_ROUNDS     how often everything is measured [default: 3]
Nothing else should run meanwhile. Words choose rows by name, or by name and ranks: interop/speed.py latency bcast:4

Every rank has a processor of its own in each library while there are enough. The processors are kept busy for a moment before each
program, as a library that starts at once would else be measured on processors that are still waking up. With more ranks than
processors MPICH is left out: it polls without giving way, so that each operation takes 8 ms.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import ground

# name, program, ranks, whether more is better, and what our ratio to the best peer should at least or at most be
COLLECTIVES = ("barrier", "bcast", "allgather", "alltoall", "allreduce", "reduce", "gather", "scatter")
ROWS = [("latency", 2, False), ("bw", 2, True), ("bibw", 2, True), ("mbw_mr", 2, True)]
ROWS += [(name, ranks, False) for ranks in (2, 4, 8) for name in COLLECTIVES]
LIBRARY_LIMIT_BYTES = 2 << 20
BIND_OURS = ["--bind", "core"]
# Collectives are judged from here on; the shorter ones before serve to get under way.
SHORTEST_COLLECTIVE_BYTES = 4
BUSY_S = 0.2


def goal(name, ranks, size):
    """What the project promises: a ratio that ours must keep to."""
    if name == "latency":
        return 0.65 if size <= 64 else 0.95
    if name in ("bw", "bibw"):
        return 1.5 if size < 1024 else 1.05
    if name == "mbw_mr":
        return 1.5
    return 0.95 if ranks == 2 else 0.8


class Library:
    """An MPI that is measured: how its ranks are started, and which build of the programs is for it."""

    def __init__(self, name, command, environment, programs, file, alone=(), shared=(), gives_way=True):
        self.name, self.command, self.environment = name, command, environment
        self.programs, self.file = programs, file
        # What its launcher is told where every rank has a processor, and where ranks share them.
        self.alone, self.shared, self.gives_way = list(alone), list(shared), gives_way

    def serves(self, ranks):
        return self.gives_way or ranks <= os.cpu_count()

    def run(self, ranks, words):
        options = self.alone if ranks <= os.cpu_count() else self.shared
        command = self.command + options + ["-n", str(ranks), *map(str, words)]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=ground.TIME_LIMIT_S, env={**os.environ, **self.environment},
        )
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: status {done.returncode}: {done.stdout.strip()[-200:]}")
        return done.stdout


def programs(source, compiler, name):
    """The programs built with a compiler, and the one of ours beside them."""
    folder = ground.WORK / name
    if not (folder / "Makefile").exists():
        folder.mkdir(parents=True, exist_ok=True)
        compilers = {**os.environ, "CC": str(compiler), "CXX": str(compiler)}
        ground.must([source / "configure", "--quiet"], cwd=folder, env=compilers)
    ground.must(["make", "-k", "-C", folder / "c", f"-j{os.cpu_count()}"])
    ground.must([compiler, ground.ROOT / "interop" / "resident.c", "-o", folder / "resident"])
    return {path.name: path for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK)}


def libraries(source):
    abi = programs(source, ground.COMPILER, "osu")
    built = ground.WORK.parent / "release"
    folder = ground.WORK / "release-lib"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "libmpi_abi.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(built / "libmpi_abi.so")
    yield Library("ours", [str(built / "cornerstone"), "launch"], {"LD_LIBRARY_PATH": str(folder)}, abi, link,
                  BIND_OURS, BIND_OURS)
    for root in filter(None, os.environ["CORNERSTONE_MPI_ROOTS"].split(":")):
        root = pathlib.Path(root).resolve()
        mpiexec = root / "bin" / "mpiexec"
        said = subprocess.run([mpiexec, "--version"], stdout=subprocess.PIPE, text=True).stdout
        if "Open MPI" in said or "OpenRTE" in said:
            allow = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            own = programs(source, root / "bin" / "mpicc", "osu-openmpi")
            yield Library("Open MPI", [str(mpiexec)], allow, own, root / "lib" / "libmpi.so.40",
                          ["--bind-to", "core"], ["--oversubscribe"])
            continue
        name = "Intel MPI" if "Intel" in said else "MPICH"
        environment = {"LD_LIBRARY_PATH": str(root / "lib"), "I_MPI_ROOT": str(root)}
        is_mpich = name == "MPICH"
        yield Library(name, [str(mpiexec)], environment, abi, root / "lib" / "libmpi_abi.so.1",
                      ["-bind-to", "core"] if is_mpich else [], gives_way=not is_mpich)


def values(output, name):
    """The first number of each size; 0 stands for the size of what has none."""
    found = {}
    for line in output.splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            continue
        if name == "barrier":
            found[0] = numbers[0]
        elif len(numbers) > 1:
            # Of the message rate it is the rate, not the bandwidth.
            found[int(numbers[0])] = numbers[2] if name == "mbw_mr" else numbers[1]
    return found


def keep_busy():
    """Wakes the processors up."""
    words = f"import time; end = time.monotonic() + {BUSY_S}\nwhile time.monotonic() < end: pass"
    busy = [subprocess.Popen([sys.executable, "-c", words]) for _ in range(os.cpu_count())]
    for one in busy:
        one.wait()


def measure(name, ranks, all_libraries, rounds):
    sizes = ["-m", "64:64"] if name == "mbw_mr" else ["-m", "1:1048576"] if name in COLLECTIVES and name != "barrier" else []
    measured = [library for library in all_libraries if library.serves(ranks)]
    samples = {library.name: {} for library in measured}
    for _ in range(rounds):
        for library in measured:
            keep_busy()
            output = library.run(ranks, [library.programs[f"osu_{name}"], *sizes])
            for size, value in values(output, name).items():
                samples[library.name].setdefault(size, []).append(value)
    return {library: {size: statistics.median(all_) for size, all_ in of.items()} for library, of in samples.items()}


def show(name, ranks, more_is_better, medians):
    """Prints a row for each size; gives the cells that miss."""
    missed = []
    peers = [peer for peer in medians if peer != "ours"]
    for size, ours in medians["ours"].items():
        others = [medians[peer][size] for peer in peers if size in medians[peer]]
        shortest = 0 if name == "barrier" else SHORTEST_COLLECTIVE_BYTES if name in COLLECTIVES else 1
        if size < shortest or not others:
            continue
        best = max(others) if more_is_better else min(others)
        ratio, wanted = ours / best, goal(name, ranks, size)
        kept = ratio >= wanted if more_is_better else ratio <= wanted
        cells = "".join(f"{medians[peer].get(size, float('nan')):12.2f}" for peer in peers)
        print(f"{name:10}{ranks:3}{size:9}{ours:12.2f}{cells}{ratio:8.2f}{wanted:7.2f}  {'' if kept else 'misses'}")
        if not kept:
            missed.append(f"{name} of {size} bytes at {ranks} ranks: {ratio:.2f}, wanted {wanted}")
    sys.stdout.flush()
    return missed


def size_and_memory(all_libraries):
    missed = []
    for library in all_libraries:
        with tempfile.NamedTemporaryFile() as stripped:
            ground.must(["strip", "-o", stripped.name, library.file])
            library_bytes = os.path.getsize(stripped.name)
        said = library.run(2, [library.programs["resident"]])
        library.kib = int(next(line for line in said.splitlines() if "resident" in line).split()[-1])
        print(f"{library.name:10} library, stripped: {library_bytes / 2**20:6.2f} MiB; a rank after MPI_Init: {library.kib / 1024:6.1f} MiB resident")
        if library.name == "ours" and library_bytes > LIBRARY_LIMIT_BYTES:
            missed.append(f"size of the library: {library_bytes} bytes, wanted at most {LIBRARY_LIMIT_BYTES}")
    ours, *others = all_libraries
    if others and ours.kib > min(other.kib for other in others) / 3:
        missed.append(f"resident memory of a rank: {ours.kib} KiB, wanted a third of the best peer's")
    return missed


def main():
    if "-h" in sys.argv or "--help" in sys.argv:
        print(__doc__)
        return
    source = ground.source("CORNERSTONE_OSU_SOURCE")
    if source is None or not os.environ.get("CORNERSTONE_MPI_ROOTS"):
        print("skipped: the comparison of MPIs; set CORNERSTONE_OSU_SOURCE and CORNERSTONE_MPI_ROOTS (interop/speed.py --help says to what)")
        return
    ground.build()
    if os.environ.get("CORNERSTONE_INTEROP_BUILT") != "1":
        ground.must(["cargo", "build", "--release", "--package", "libmpi-abi", "--package", "cornerstone"], cwd=ground.ROOT)
    all_libraries = list(libraries(source))
    missed = size_and_memory(all_libraries)
    print("times in us, rates in MB/s, message rates in 1/s; ratio of ours to the best other, and the ratio that is wanted")
    print(f"{'program':10}{'n':>3}{'bytes':>9}" + "".join(f"{one.name:>12}" for one in all_libraries) + f"{'ratio':>8}{'wanted':>7}")
    rounds = int(os.environ.get("CORNERSTONE_ROUNDS", "3"))
    for name, ranks, more_is_better in ROWS:
        if len(sys.argv) > 1 and not {name, f"{name}:{ranks}"} & set(sys.argv[1:]):
            continue
        try:
            medians = measure(name, ranks, all_libraries, rounds)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            missed.append(f"{name} at {ranks} ranks was not measured: {error}")
            continue
        missed += show(name, ranks, more_is_better, medians)
    print(f"{len(missed)} cells miss" + (":" if missed else ""))
    for cell in missed:
        print(f"  {cell}")


main()
