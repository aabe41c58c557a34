"""Rules to build each application, to run it at a small size, and to check its results."""

import re

from common import COMPILER, COMPILER_CXX


def number(output, words):
    """Returns the number that follows `words` (a regular expression) in the output of a program, or None."""
    found = re.search(words + r"\s*[:=]?\s*([-+0-9.eE]+)", output)
    return float(found[1]) if found else None


def grid(ranks):
    """Returns a grid of ranks: a line along the first of three axes, or a block if `ranks` is a multiple of eight."""
    return (ranks // 4, 2, 2) if ranks % 8 == 0 else (ranks, 1, 1)


class Program:
    """One application. `good` must be in its output and `bad` must not, as regular expressions."""

    ranks = (2, 4)
    good, bad = (), ()

    def fits(self, ranks):
        """Returns whether the program can run with this number of ranks."""
        return True

    def check(self, output):
        """Returns what is wrong with the printed numbers, or None."""
        return None

    def seconds(self, output):
        """Returns the time that the program measured, without its start."""
        raise NotImplementedError


class Lulesh(Program):
    name = "LULESH"
    ranks = (1, 8)
    build = [(".", ["make", f"CXX={COMPILER_CXX} -DUSE_MPI=1", "CXXFLAGS=-O3 -I.", "LDFLAGS=-O3"])]
    # An edge of the whole mesh has as many elements with one rank as with eight.
    steps, edge = 100, 30
    good = (r"Run completed",)

    def fits(self, ranks):
        return ranks in (1, 8, 27, 64)

    def command(self, folder, ranks):
        side = round(ranks ** (1 / 3))
        return [folder / "lulesh2.0", "-s", self.edge // side, "-i", self.steps]

    def check(self, output):
        # The blast is the same in all three directions.
        asymmetry = number(output, "MaxAbsDiff")
        if asymmetry is None or asymmetry > 1e-6:
            return f"the energy is not symmetrical: MaxAbsDiff {asymmetry}"
        steps = number(output, "Iteration count")
        return None if steps == self.steps else f"{steps} steps instead of {self.steps}"

    def seconds(self, output):
        return number(output, "Elapsed time")


class CoMD(Program):
    name = "CoMD"
    build = [
        ("src-mpi", ["cp", "Makefile.vanilla", "Makefile"]),
        ("src-mpi", ["make", f"CC={COMPILER}", "OPTFLAGS=-O3"]),
    ]
    good = (r"no atoms lost",)
    bad = (r"atoms lost #",)

    def command(self, folder, ranks):
        x, y, z = grid(ranks)
        words = [folder / "bin" / "CoMD-mpi", "-e", "-d", folder / "pots", "-N", 100, "-n", 50]
        return [*words, "-x", 16, "-y", 12, "-z", 12, "-i", x, "-j", y, "-k", z]

    def check(self, output):
        ratio = number(output, r"eFinal/eInitial")
        return None if ratio and abs(ratio - 1) < 1e-4 else f"the energy is not conserved: {ratio} of the initial one"

    def seconds(self, output):
        return float(re.search(r"^loop +\d+ +[0-9.]+ +([0-9.]+)", output, re.M)[1])


class Hpcg(Program):
    name = "hpcg"
    build = [
        (".", ["mkdir", "build"]),
        ("build", ["../configure", "Linux_MPI"]),
        ("build", ["make", f"CXX={COMPILER_CXX}"]),
    ]
    good = (r"HPCG result is VALID",)
    bad = (r"INVALID",)

    def command(self, folder, ranks):
        return [folder / "build" / "bin" / "xhpcg", "--nx=24", "--ny=24", "--nz=24", "--rt=1"]

    def seconds(self, output):
        # The number of repetitions depends on the speed of the program.
        repeated = number(output, "Iteration Count Information::Total number of optimized iterations")
        return number(output, "Benchmark Time Summary::Total") / repeated


class Amg(Program):
    name = "AMG"
    build = [(".", ["make", f"CC={COMPILER}", "INCLUDE_LFLAGS=-lm", "-j1",
                    "INCLUDE_CFLAGS=-O2 -DTIMER_USE_MPI -DHYPRE_USING_PERSISTENT_COMM -DHYPRE_BIGINT"])]

    def command(self, folder, ranks):
        return [folder / "test" / "amg", "-problem", 1, "-n", 40, 40, 40, "-P", *grid(ranks)]

    def check(self, output):
        residual = number(output, "Final Relative Residual Norm")
        return None if residual is not None and residual < 1e-7 else f"it did not converge: residual {residual}"

    def seconds(self, output):
        return sum(float(found) for found in re.findall(r"wall clock time = ([0-9.]+)", output))


class MiniAmr(Program):
    name = "miniAMR"
    build = [("ref", ["make", f"CC={COMPILER}", f"LD={COMPILER}"])]
    good = (r"Total time for test",)
    bad = (r"difference too large", r"ERROR.*", r"misconnect.*")

    def command(self, folder, ranks):
        x, y, z = grid(ranks)
        words = [folder / "ref" / "miniAMR.x", "--npx", x, "--npy", y, "--npz", z, "--nx", 8, "--ny", 8, "--nz", 8]
        words += ["--num_vars", 10, "--num_refine", 3, "--max_blocks", 4000, "--num_tsteps", 10]
        words += ["--stages_per_ts", 10, "--checksum_freq", 1, "--refine_freq", 3]
        # The object is a sphere that crosses the cube.
        return [*words, "--num_objects", 1, "--object", 2, 0, -0.1, -0.1, -0.1, 0.1, 0.1, 0.1, *[0.25] * 3, *[0] * 3]

    def seconds(self, output):
        return number(output, re.escape("Total time for test: ave, std, min, max (sec)"))


class Quicksilver(Program):
    name = "Quicksilver"
    problem = "Examples/CORAL2_Benchmark/Problem1/Coral2_P1.inp"
    build = [
        ("src", ["make", f"CXX={COMPILER_CXX}", "CXXFLAGS=-O2 -std=c++11", "CPPFLAGS=-DHAVE_MPI", "LDFLAGS="]),
        # The file overrides the command line.
        (".", ["sed", "-i", "s/nSteps: .*/nSteps: 30/", problem]),
    ]
    good = (r"PASS:: No Particles Lost",)
    bad = (r"FAIL::.*",)

    def command(self, folder, ranks):
        x, y, z = grid(ranks)
        words = [folder / "src" / "qs", "-i", folder / self.problem, "-n", 20000]
        return [*words, "-X", 6, "-Y", 6, "-Z", 6, "-x", 6, "-y", 6, "-z", 6, "-I", x, "-J", y, "-K", z]

    def seconds(self, output):
        # Columns of the table of timers: name, calls, shortest, mean and longest time of the ranks in microseconds.
        return float(re.search(r"^main +\d+ +\S+ +\S+ +(\S+)", output, re.M)[1]) * 1e-6


class Graph500(Program):
    name = "graph500"
    build = [("src", ["make", f"MPICC={COMPILER} -fcommon", "graph500_reference_bfs"])]
    good = (r"bfs +harmonic_mean_TEPS",)
    bad = (r"Validation failed", r"invalid run")

    def fits(self, ranks):
        return ranks & (ranks - 1) == 0

    def command(self, folder, ranks):
        return [folder / "src" / "graph500_reference_bfs", 14]

    def seconds(self, output):
        return number(output, "bfs +mean_time")


ALL = (Lulesh(), CoMD(), Hpcg(), Amg(), MiniAmr(), Quicksilver(), Graph500())
