"""Unmodified programs that others built against MPICH's ABI, on our library under MPICH's names."""

import os
import re
import shutil
import subprocess

from common import LIBRARY, ROOT, WORK, Tally, must, run, selected

RANKS = (1, 2, 4)
FOLDER = WORK / "mpich-abi"
# The folder with the library under MPICH's own name, which the wheel of mpi4py loads, and under Debian's name.
NAMES = FOLDER / "lib"
# Packages of Debian that are built against libmpich12. Of libmpich12 itself, only the library for Fortran is used.
DEBIAN = (
    "netpipe-mpich2",
    "libscalapack-mpich2.2",
    "libmpich-dev",
    "libmpich12",
    "libhdf5-mpich-103-1",
    "libhdf5-mpich-dev",
)
# The packages that these need. They may be missing on a machine.
NEEDED = ("liblapack3", "libblas3", "libgfortran5", "libsz2", "libaec0")

SCALAPACK = r"""
#include <stdio.h>
#include <stdlib.h>
void Cblacs_pinfo(int *, int *), Cblacs_get(int, int, int *), Cblacs_gridinit(int *, char *, int, int);
void Cblacs_gridinfo(int, int *, int *, int *, int *), Cblacs_gridexit(int), Cblacs_exit(int);
int numroc_(int *, int *, int *, int *, int *);
void descinit_(int *, int *, int *, int *, int *, int *, int *, int *, int *, int *);
void pdgesv_(int *, int *, double *, int *, int *, int *, int *, double *, int *, int *, int *, int *);
/* Solves A x = b where A has 2 N on its diagonal and 1 elsewhere, and b the sums of A's rows: x is all 1. */
int main(void) {
    int rank, size, context, rows, columns, row, column, zero = 0, one = 1, n = 40, block = 4, info, wrong = 0;
    Cblacs_pinfo(&rank, &size);
    Cblacs_get(-1, 0, &context);
    for (rows = 1; rows * rows < size; rows++) {}
    while (size % rows) rows--;
    columns = size / rows;
    Cblacs_gridinit(&context, "Row", rows, columns);
    Cblacs_gridinfo(context, &rows, &columns, &row, &column);
    int mine = numroc_(&n, &block, &row, &zero, &rows), others = numroc_(&n, &block, &column, &zero, &columns);
    int lead = mine > 1 ? mine : 1, matrix[9], vector[9], *pivots = malloc((mine + block) * sizeof(int));
    double *a = malloc(lead * (others + 1) * sizeof(double)), *b = malloc(lead * sizeof(double));
    descinit_(matrix, &n, &n, &block, &block, &zero, &zero, &context, &lead, &info);
    descinit_(vector, &n, &one, &block, &block, &zero, &zero, &context, &lead, &info);
    for (int j = 0; j < others; j++)
        for (int i = 0; i < mine; i++) {
            int down = (i / block * rows + row) * block + i % block;
            int right = (j / block * columns + column) * block + j % block;
            a[i + j * lead] = down == right ? 2.0 * n : 1.0;
        }
    for (int i = 0; i < mine; i++) b[i] = 3.0 * n - 1;
    pdgesv_(&n, &one, a, &one, &one, matrix, pivots, b, &one, &one, vector, &info);
    if (column == 0)
        for (int i = 0; i < mine; i++) wrong += b[i] < 1 - 1e-12 || b[i] > 1 + 1e-12;
    if (rank == 0) printf("solved with status %d\n", info);
    Cblacs_gridexit(context);
    Cblacs_exit(0);
    return info != 0 || wrong != 0;
}
"""

FORTRAN = """
program hello
  use mpi
  implicit none
  integer :: rank, size, total, error, request, status(MPI_STATUS_SIZE), got, bound_key
  integer(kind=MPI_ADDRESS_KIND) :: bound
  logical :: flag
  integer :: pair(2)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (total /= size * (size - 1) / 2) stop 2
  pair = [rank, 1]
  call MPI_Allreduce(MPI_IN_PLACE, pair, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  if (pair(1) /= total .or. pair(2) /= size) stop 3
  call MPI_Irecv(got, 1, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, request, error)
  call MPI_Send(rank, 1, MPI_INTEGER, mod(rank + 1, size), 7, MPI_COMM_WORLD, error)
  call MPI_Wait(request, status, error)
  if (status(MPI_SOURCE) /= mod(rank + size - 1, size) .or. got /= status(MPI_SOURCE)) stop 4
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, MPI_PROC_NULL, 1, got, 1, MPI_INTEGER, MPI_PROC_NULL, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, bound, flag, error)
  if (.not. flag .or. bound < 32767) stop 5
  if (rank == 0) print *, "Fortran of", size
  call MPI_Finalize(error)
end program
"""


def prepare():
    """Makes links to the library under all its names. Returns the environment of programs that use them."""
    NAMES.mkdir(parents=True, exist_ok=True)
    for name in ("libmpi.so.12", "libmpich.so.12", "libmpich.so"):
        link = NAMES / name
        link.unlink(missing_ok=True)
        link.symlink_to((LIBRARY / "libmpi.so.12").resolve())
    # The library searches for the other library in its own folder, and then where the system finds one.
    link = NAMES / "libmpi_abi.so.1"
    link.unlink(missing_ok=True)
    link.symlink_to((LIBRARY / "libmpi_abi.so.1").resolve())
    return {"LD_LIBRARY_PATH": str(NAMES)}


def fetch_debian():
    """Unpacks Debian's packages without installing them. Returns the folder, or prints the reason and returns None."""
    folder = FOLDER / "debian"
    if (folder / "usr/include/hdf5").exists():
        return folder
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        print("skipped: Debian's programs for MPICH, because this is no Debian")
        return None
    packages = FOLDER / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    got = subprocess.run(
        ["apt-get", "download", "-qq", *DEBIAN, *NEEDED],
        cwd=packages,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if got.returncode != 0:
        print(f"skipped: Debian's programs for MPICH, because apt-get does not fetch them: {got.stdout.strip()[-200:]}")
        return None
    for package in packages.glob("*.deb"):
        must(["dpkg-deb", "-x", package, folder])
    return folder


def debian(tally, ranks, environment):
    folder = fetch_debian()
    if folder is None:
        return
    libraries = folder / "usr/lib/x86_64-linux-gnu"
    paths = [NAMES, libraries, libraries / "lapack", libraries / "blas"]
    environment = {**environment, "LD_LIBRARY_PATH": os.pathsep.join(map(str, paths))}
    if selected("netpipe at 2 ranks"):
        ended = run(
            2, [folder / "usr/bin/NPmpich2", "-u", "1024", "-o", FOLDER / "netpipe.out"], environment=environment
        )
        lines = re.findall(r"^\s*\d+:\s+\d+ bytes.*Mbps", ended.output, re.MULTILINE)
        failure = (
            ended.reason() if ended.status != 0 else None if len(lines) > 10 else f"{len(lines)} sizes were measured"
        )
        tally.take("netpipe at 2 ranks", failure)
    program = FOLDER / "scalapack"
    (FOLDER / "scalapack.c").write_text(SCALAPACK)
    linked = [
        libraries / "libscalapack-mpich.so.2.2",
        "-Wl,--allow-shlib-undefined",
        "-Wl,--unresolved-symbols=ignore-in-shared-libs",
    ]
    must(["cc", "-o", program, FOLDER / "scalapack.c", *linked, "-lm"])
    for count in ranks:
        name = f"scalapack at {count} ranks"
        if selected(name):
            ended = run(count, [program], environment=environment)
            whole = ended.status == 0 and "solved with status 0" in ended.output
            tally.take(name, None if whole else ended.reason())
    hdf5(tally, ranks, environment, folder)
    fortran(tally, ranks, environment, folder)


def hdf5(tally, ranks, environment, folder):
    """Tests Debian's HDF5 for MPICH, with which ranks write and read a file together."""
    program, libraries = FOLDER / "hdf5", folder / "usr/lib/x86_64-linux-gnu"
    includes = [f"-I{folder}/usr/include/hdf5/mpich", f"-I{folder}/usr/include/x86_64-linux-gnu/mpich"]
    linked = [libraries / "libhdf5_mpich.so", NAMES / "libmpich.so.12", "-Wl,--allow-shlib-undefined"]
    must(["cc", *includes, "-o", program, ROOT / "interop" / "hdf5.c", *linked])
    for count in ranks:
        name = f"HDF5 at {count} ranks"
        if selected(name):
            file = FOLDER / "matrix.h5"
            file.unlink(missing_ok=True)
            ended = run(count, [program, file], environment=environment)
            tally.take(name, None if ended.status == 0 and "0 wrong" in ended.output else ended.reason())


def fortran(tally, ranks, environment, folder):
    """Tests a Fortran program over MPICH's own library for Fortran, which calls our library."""
    if shutil.which("gfortran") is None:
        print("skipped: a program of Fortran for MPICH, because there is no gfortran")
        return
    program, source = FOLDER / "fortran", FOLDER / "fortran.f90"
    source.write_text(FORTRAN)
    libraries = folder / "usr/lib/x86_64-linux-gnu"
    modules = folder / "usr/include/x86_64-linux-gnu/mpich"
    ours = [libraries / "libmpichfort.so.12", NAMES / "libmpich.so.12", "-Wl,--allow-shlib-undefined"]
    must(["gfortran", "-fallow-argument-mismatch", f"-I{modules}", "-o", program, source, *ours])
    for count in ranks:
        name = f"Fortran at {count} ranks"
        if selected(name):
            ended = run(count, [program], environment=environment)
            whole = ended.status == 0 and "Fortran of" in ended.output
            tally.take(name, None if whole else ended.reason())


def test(ranks=RANKS):
    environment = prepare()
    tally = Tally("mpich-abi")
    debian(tally, ranks, environment)
    tally.close()
    return tally
