"""The bindings for Fortran of the project mpif, built on our header and library, with their tests and MPICH's tests in
Fortran."""

import os
import re
import shutil
import subprocess

import installed
import mpich
from common import ROOT, WORK, Skips, Tally, must, selected, source

VARIABLE = "CORNERSTONE_MPIF_SOURCE"
OUT = WORK / "fortran"
MPI, BINDINGS = OUT / "mpi", OUT / "mpif"
COMPILER = BINDINGS / "bin" / "mpifort"
TOPICS = ("attr", "coll", "comm", "datatype", "ext", "info", "init", "io", "profile", "pt2pt", "rma", "spawn", "topo")
FOLDERS = [f"f77/{topic}" for topic in TOPICS] + [f"f08/{topic}" for topic in (*TOPICS, "misc", "subarray", "timer")]
# The kinds that their configure script writes into headers for mpif.h, on machines of 64 bits.
KINDS = {"@F77_MPI_ADDRESS@": "integer*8", "@F77_MPI_OFFSET@": "integer*8"}
TIME_LIMIT_S = 120


def environment():
    """Returns the environment of commands that build with our installation and the bindings."""
    return installed.environment(BINDINGS, MPI)


def configure(sources, folder, *options):
    folder.mkdir(parents=True, exist_ok=True)
    command = ["cmake", f"-DMPI_HOME={MPI}", f"-DMPIEXEC_EXECUTABLE={MPI}/bin/mpiexec", *options, sources]
    must(command, cwd=folder, env=environment())
    must(["make", f"-j{os.cpu_count()}"], cwd=folder, env=environment())


def build_bindings(sources):
    """Installs the files that cargo has built, as a user would, and the bindings over them."""
    shutil.rmtree(OUT, ignore_errors=True)
    installed.place(MPI)
    configure(sources, OUT / "build", f"-DCMAKE_INSTALL_PREFIX={BINDINGS}", "-DCMAKE_BUILD_TYPE=Release")
    must(["make", "install"], cwd=OUT / "build", env=environment())


def test_bindings(tally, skips, sources):
    """Runs the tests of the bindings, which are a separate project that uses the installed files."""
    folder = OUT / "tests"
    configure(sources / "test", folder, f"-DMPI_Fortran_COMPILER={COMPILER}")
    done = subprocess.run(
        ["ctest", "--timeout", str(TIME_LIMIT_S), "--output-on-failure"],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    results = re.findall(r"^ *\d+/\d+ Test +#\d+: (\S+) \.*\s*(.*?) +[0-9.]+ sec", done.stdout, re.MULTILINE)
    if not results:
        tally.take("mpif", f"ctest ran no test: {done.stdout.strip()[-200:]}")
    for name, how in results:
        if not selected(f"mpif/{name}"):
            continue
        if reason := skips.reason(f"mpif/{name}"):
            tally.skip(f"mpif/{name}", reason)
        else:
            tally.take(f"mpif/{name}", None if how == "Passed" else how.strip("* "))


def build_shared(tests):
    """Builds the functions that MPICH's tests share, and the headers that their configure script would write."""
    mpich.build_shared(tests)
    for template in tests.glob("f77/*/*.h.in"):
        text = template.read_text()
        for mark, kind in KINDS.items():
            text = text.replace(mark, kind)
        header = OUT / template.parent.relative_to(tests) / template.stem
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text(text)
    header = OUT / "include" / "mpitestconf.h"
    header.parent.mkdir(exist_ok=True)
    shutil.copy(ROOT / "interop" / "mpich" / "include" / header.name, header)
    # The first line of the file is for their configure script.
    merge = OUT / "testmerge"
    merge.write_text((tests / "maint" / "testmerge.in").read_text().partition("\n")[2])
    for language, suffix in (("f77", "f"), ("f08", "f90")):
        # Programs that write files are generated from a template.
        templates = [tests / language / "io" / f"ioharness.{part}" for part in ("defn", "tlt")]
        place = OUT / language / "io"
        place.mkdir(parents=True, exist_ok=True)
        must(["perl", merge, f"-defn={tests}/maint/common.defn", *templates], cwd=place)
        made = OUT / f"{language}.o"
        must([COMPILER, "-w", "-g", "-c", tests / "util" / f"mtest_{language}.{suffix}", "-o", made], cwd=OUT)


def recipe(tests, folder, program):
    """Returns the source files of a program, by the rules of its makefile."""
    text = (tests / folder / "Makefile.am").read_text().replace("\\\n", " ")
    found = re.search(rf"^(?:nodist_)?{re.escape(program)}_SOURCES\s*=(.*)$", text, re.MULTILINE)
    names = found.group(1).split() if found else []
    names = names or [f"{program}.{'f' if folder.startswith('f77') else 'f90'}"]
    # Files that both languages use are in the folder of the first.
    folders = (OUT / folder, tests / folder, tests / folder.replace("f08", "f77"))
    places = [next((place / name for place in folders if (place / name).exists()), None)
              for name in names if not name.endswith(".h")]
    return places if all(places) else []


def compile_one(tests, folder, program):
    """Compiles a program. Returns the compiler's error, or None."""
    sources = recipe(tests, folder, program)
    place = OUT / folder / program
    modules = OUT / "modules" / folder / program
    for one in (place.parent, modules):
        one.mkdir(parents=True, exist_ok=True)
    if not sources:
        return "its source is generated by MPICH's autoconf and is not there"
    # The tests of windows also use the headers of attributes. Some headers name ../../include.
    near = [place.parent, tests / folder, OUT / folder[:3] / "attr"]
    includes = [*mpich.includes(tests), f"-I{MPI}/include", *(f"-I{one}" for one in near)]
    objects = []
    for one in sources:
        objects.append(modules / f"{one.stem}.o")
        compiler = mpich.COMPILER if one.suffix == ".c" else COMPILER
        command = [compiler, "-w", "-g", "-DF77_NAME_LOWER_USCORE", *includes, "-c", one, "-o", objects[-1]]
        if failure := mpich.refused(command, cwd=modules, env=environment()):
            return failure
    # A program may be entirely in C.
    ours = [OUT / f"{folder[:3]}.o"] if any(one.suffix != ".c" for one in sources) else []
    command = [COMPILER, "-g", *objects, *ours, *mpich.shared(folder), "-lpthread", "-o", place]
    return mpich.refused(command, cwd=modules, env=environment())


def test(sources, _ranks=None):
    tally, skips = Tally("fortran"), Skips("fortran")
    if lacking := installed.missing("gfortran", "cmake", "perl"):
        print(f"skipped: Fortran, because there is no {lacking}")
        return tally
    build_bindings(sources)
    test_bindings(tally, skips, sources)
    if (theirs := source(mpich.VARIABLE)) is None:
        print(f"skipped: MPICH's tests in Fortran, because {mpich.VARIABLE} names no folder")
    else:
        tests = theirs / "test" / "mpi"
        build_shared(tests)
        mpich.run_all(tally, skips, tests, OUT, FOLDERS, compile_one)
    tally.close()
    return tally
