#!/usr/bin/env python3
"""Our MPI library against others, judged by the OSU micro-benchmarks: one run, turn by turn, medians, ratios to the
best peer.

  CORNERSTONE_OSU_SOURCE sources of the OSU micro-benchmarks 7: the folder with their `configure`
  CORNERSTONE_MPI_ROOTS  installations of MPICH 5, Intel MPI and Open MPI 5, with colons between: folders with
                         bin/mpiexec
Nothing else should run meanwhile. Words choose rows by name, or by name and ranks: interop/speed.py latency bcast:4
Non-blocking collectives (ibcast, ...), persistent ones (bcast_persistent, ...) and one-sided programs
(put_latency-flush, ...; all of them: one-sided) are measured only if they are named.

Every rank has a processor of its own in each library while there are enough. The processors are kept busy for a moment
before each program, as a library that starts at once would else be measured on processors that are still waking up.
With more ranks than processors MPICH is left out: it polls without giving way, so that each operation takes 8 ms.

Before and after each program the time is taken in which a line goes from one processor to another. Where the host moves
the processors of a virtual machine, it is several times longer for seconds at a time; a program that was measured then
is run again.

With --tcp all messages go through the sockets of this host: what the library adds to a network, without the cable.

What was measured is kept in target/interop/speed.json until our library changes; rows that are measured again replace
their old ones there, and --markdown prints the table of all.
"""

import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import common
import installations
import speed_table
from speed_table import COLLECTIVES, EVERY_ROW, NON_BLOCKING, ONE_SIDED, ONE_SIDED_ROWS, PERSISTENT, ROWS

LIBRARY_LIMIT_BYTES = 2 << 20
BIND_OURS = ["--bind", "core"]
BUSY_MS = 100
# The machine is in the slow state if a line takes this many times the median of its times. The comparison is not with
# the shortest time: the processors of some virtual machines are sometimes close to each other for a moment (25 ns
# instead of 120), and all other times would count as slow.
SLOW = 2.5
# The maximum number of times that a program is run again because it was measured in the slow state.
MOST_REPEATS = 4


class Library:
    """An MPI library that is measured: how its ranks are started, and its build of the programs."""

    def __init__(self, name, command, environment, programs, file, alone=(), shared=(), gives_way=True):
        self.name, self.command, self.environment = name, command, environment
        self.programs, self.file = programs, file
        # The options of its launcher if every rank has a processor, and if ranks share processors.
        self.alone, self.shared, self.gives_way = list(alone), list(shared), gives_way

    def serves(self, ranks):
        return self.gives_way or ranks <= os.cpu_count()

    def run(self, ranks, words):
        options = self.alone if ranks <= os.cpu_count() else self.shared
        command = self.command + options + ["-n", str(ranks), *map(str, words)]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=common.TIME_LIMIT_S, env={**os.environ, **self.environment},
        )
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: status {done.returncode}: {done.stdout.strip()[-200:]}")
        return done.stdout


def programs(source, compiler, name):
    """Builds OSU's programs with a compiler, and our own program. Returns their paths by name."""
    folder = common.WORK / name
    common.configured(source, folder, {"CC": str(compiler), "CXX": str(compiler)})
    common.must(["make", "-k", "-C", folder / "c", f"-j{os.cpu_count()}"])
    common.must([compiler, common.ROOT / "interop" / "resident.c", "-o", folder / "resident"])
    return {path.name: path for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK)}


def over_tcp(library):
    """Makes the ranks of a library use TCP although they are on one host. Returns None if the library cannot."""
    if library.name == "ours":
        library.command += ["--fabric", "tcp"]
    elif library.name == "Open MPI":
        library.command += ["--mca", "pml", "ob1", "--mca", "btl", "tcp,self"]
    elif library.name == "Intel MPI":
        library.environment |= {"FI_PROVIDER": "tcp", "I_MPI_FABRICS": "ofi", "I_MPI_COLL_INTRANODE": "pt2pt"}
    else:
        # MPICH always uses shared memory on one host.
        return None
    return library


def libraries(source):
    abi = programs(source, common.COMPILER, "osu")
    built = common.WORK.parent / "release"
    folder = common.WORK / "release-lib"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "libmpi_abi.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to(built / "libmpi_abi.so")
    yield Library("ours", [str(built / "cornerstone"), "launch"], {"LD_LIBRARY_PATH": str(folder)}, abi, link,
                  BIND_OURS, BIND_OURS)
    for one in installations.installed():
        command = [str(one.mpiexec)]
        if one.name == "Open MPI":
            own = programs(source, one.root / "bin" / "mpicc", "osu-openmpi")
            yield Library(one.name, command, one.environment, own, one.root / "lib" / "libmpi.so.40",
                          ["--bind-to", "core"], ["--oversubscribe"])
        else:
            is_mpich = one.name == "MPICH"
            yield Library(one.name, command, one.environment, abi, one.standard_library,
                          ["-bind-to", "core"] if is_mpich else [], gives_way=not is_mpich)


def values(output, name):
    """Returns the first number of each size. A program without sizes has the size 0."""
    found = {}
    for line in output.splitlines():
        words = line.split()
        if not words or line.startswith("#"):
            continue
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            continue
        if "barrier" in name:
            found[0] = numbers[0]
        elif len(numbers) > 1:
            # Of mbw_mr the message rate is used, not the bandwidth.
            found[int(numbers[0])] = numbers[2] if name == "mbw_mr" else numbers[1]
    return found


class Processors:
    """Wakes the processors up, and reports whether a line currently takes its usual time between them."""

    def __init__(self):
        self.program = common.WORK / "hand_over"
        common.must(["cc", "-O2", "-pthread", common.ROOT / "interop" / "hand_over.c", "-o", self.program])
        self.seen_ns, self.repeats, self.slow = [], 0, 0
        for _ in range(20):
            self.near(0)

    def near(self, busy_ms):
        said = subprocess.run([self.program, str(busy_ms)], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.seen_ns.append(float(said))
        return float(said) <= SLOW * statistics.median(self.seen_ns)

    def undisturbed(self, run):
        """Returns the result of `run` in the usual state of the processors, or that of the last attempt."""
        for _ in range(MOST_REPEATS):
            before, given, after = self.near(BUSY_MS), run(), self.near(0)
            if before and after:
                return given
            self.repeats += 1
        self.slow += 1
        self.near(BUSY_MS)
        return run()


def program_of(name):
    """Returns the program of a row."""
    return "osu_" + (name.split("-")[0] if name in ONE_SIDED else name)


def options_of(name):
    """Returns the options of a program, which are mostly the sizes to measure."""
    if name in ONE_SIDED:
        return ["-w", "allocate", "-s", name.split("-")[1]]
    if name == "mbw_mr":
        return ["-m", "64:64"]
    if "barrier" in name:
        return []
    if name in NON_BLOCKING + PERSISTENT:
        return ["-m", "8:65536"]
    return ["-m", "1:1048576"] if name in COLLECTIVES else []


def measure(name, ranks, all_libraries, rounds, processors):
    """Returns all values of a row, by library and size."""
    options = options_of(name)
    measured = [library for library in all_libraries if library.serves(ranks)]
    samples = {library.name: {} for library in measured}
    for _ in range(rounds):
        for library in measured:
            output = processors.undisturbed(lambda: library.run(ranks, [library.programs[program_of(name)], *options]))
            for size, value in values(output, name).items():
                samples[library.name].setdefault(str(size), []).append(value)
    return samples


class Kept:
    """The measurements of this build of our library, in a file."""

    def __init__(self, library, tcp):
        self.tcp = tcp
        self.path = common.WORK / ("speed-tcp.json" if tcp else "speed.json")
        build = hashlib.sha256(library.read_bytes()).hexdigest()
        self.contents = {"build": build, "rows": {}}
        if self.path.exists():
            found = json.loads(self.path.read_text())
            if found["build"] == build:
                self.contents = found

    def put(self, name, ranks, samples):
        self.contents["rows"][f"{name}:{ranks}"] = samples
        self.path.write_text(json.dumps(self.contents))

    def cells(self, name, ranks):
        samples = self.contents["rows"].get(f"{name}:{ranks}")
        if samples is None:
            return []
        medians = {
            one: {int(size): statistics.median(all_) for size, all_ in of.items()} for one, of in samples.items()
        }
        return list(speed_table.cells(name, ranks, medians, self.tcp))

    def all_cells(self):
        return [cell for row in EVERY_ROW for cell in self.cells(*row)]


def size_and_memory(all_libraries):
    missed = []
    for library in all_libraries:
        with tempfile.NamedTemporaryFile() as stripped:
            common.must(["strip", "-o", stripped.name, library.file])
            library_bytes = os.path.getsize(stripped.name)
        said = library.run(2, [library.programs["resident"]])
        library.kib = int(next(line for line in said.splitlines() if "resident" in line).split()[-1])
        print(
            f"{library.name:10} library, stripped: {library_bytes / 2**20:6.2f} MiB; a rank after MPI_Init: "
            f"{library.kib / 1024:6.1f} MiB resident"
        )
        if library.name == "ours" and library_bytes > LIBRARY_LIMIT_BYTES:
            missed.append(f"size of the library: {library_bytes} bytes, wanted at most {LIBRARY_LIMIT_BYTES}")
    ours, *others = all_libraries
    if others and ours.kib > min(other.kib for other in others) / 3:
        missed.append(f"resident memory of a rank: {ours.kib} KiB, wanted a third of the best peer's")
    return missed


def words():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", help="rows to measure, such as latency or bcast:4 [default: all]")
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="how often everything is measured [default: 5; on two processors some 12 minutes]",
    )
    parser.add_argument("--tcp", action="store_true", help="all libraries over TCP, through this host's loopback")
    parser.add_argument("--markdown", action="store_true", help="print the short table of all rows kept, in Markdown")
    parser.add_argument("--no-measurement", action="store_true", help="print only what was kept")
    given = parser.parse_args()
    if "one-sided" in given.rows:
        given.rows += [name for name, _ in ONE_SIDED_ROWS]
        given.rows.remove("one-sided")
    known = {name for name, _ in EVERY_ROW} | {f"{name}:{ranks}" for name, ranks in EVERY_ROW}
    unknown = [row for row in given.rows if row not in known]
    if unknown:
        parser.error(f"no row {unknown[0]}; there are {', '.join(sorted(known))}, one-sided")
    if given.rounds < 1:
        parser.error("--rounds wants a number from 1 on")
    given.rows = [row for row in EVERY_ROW if {row[0], f"{row[0]}:{row[1]}"} & set(given.rows)] or ROWS
    return given


def measure_rows(given, all_libraries, kept):
    """Measures and prints the selected rows. Returns messages about the rows that could not be measured."""
    failed, processors = [], Processors()
    for name, ranks in given.rows:
        try:
            kept.put(name, ranks, measure(name, ranks, all_libraries, given.rounds, processors))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            failed.append(f"{name} at {ranks} ranks was not measured: {error}")
            continue
        show(kept.cells(name, ranks), all_libraries)
    print(
        f"a line mostly takes {statistics.median(processors.seen_ns):.0f} ns, {min(processors.seen_ns):.0f} at best; "
        f"runs repeated because it took longer: {processors.repeats}; "
        f"kept all the same: {processors.slow}"
    )
    return failed


def show(cells, all_libraries):
    for cell in cells:
        print(speed_table.line(cell, [one.name for one in all_libraries]))
    sys.stdout.flush()


def main():
    given = words()
    source = common.source("CORNERSTONE_OSU_SOURCE")
    if source is None or not installations.installed():
        print(
            "skipped: the comparison of MPIs; set CORNERSTONE_OSU_SOURCE and CORNERSTONE_MPI_ROOTS (interop/speed.py "
            "--help says to what)"
        )
        return
    common.build()
    if os.environ.get("CORNERSTONE_INTEROP_BUILT") != "1":
        common.must(
            ["cargo", "build", "--release", "--package", "libmpi-abi", "--package", "cornerstone"], cwd=common.ROOT
        )
    all_libraries = [one for one in libraries(source) if not given.tcp or over_tcp(one)]
    kept = Kept(all_libraries[0].file, given.tcp)
    missed = size_and_memory(all_libraries)
    print(
        "times in us, rates in MB/s, message rates in 1/s; ratio of ours to the best other, and the ratio that is "
        "wanted"
    )
    print(speed_table.heading([one.name for one in all_libraries]))
    if given.no_measurement:
        for row in given.rows:
            show(kept.cells(*row), all_libraries)
    else:
        missed += measure_rows(given, all_libraries, kept)
    missed += [str(cell) for row in given.rows for cell in kept.cells(*row) if cell.misses()]
    measured = [cell for row in given.rows for cell in kept.cells(*row)]
    missed += speed_table.missed_means(measured, given.tcp)
    if given.tcp:
        for name, mean, wanted in speed_table.means(measured, tcp=True):
            print(f"geometric mean of {name}: {mean:.2f}, wanted {wanted}")
    print(f"{len(missed)} cells miss" + (":" if missed else ""))
    for cell in missed:
        print(f"  {cell}")
    if given.markdown:
        print()
        for line in speed_table.markdown(kept.all_cells()):
            print(line)


if __name__ == "__main__":
    main()
