"""The files of an installation and their places: one list for `make install` and for the wheel."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
# The files that cargo builds, and their places in the installation.
PROGRAM = "cornerstone"
LIBRARIES = {
    "libmpi_abi.so": "lib/libmpi_abi.so.1",
    "libmpich_abi.so": "lib/libmpi.so.12",
    # `launch --report` loads this library before a program's own libraries.
    "libcornerstone_profile.so": "lib/libcornerstone_profile.so",
    # `launch --fabric sim:` loads this library before them.
    "libcornerstone_time.so": "lib/libcornerstone_time.so",
    # SCI_LIB and HCS_LIB for C programs.
    "libhcs.so": "lib/libhcs.so",
}
PACKAGES = ("cornerstone", "libmpi-abi", "libmpich-abi", "libprofile", "libvirtual-time", "libhcs")
# Names for the same file.
COMPILERS = ("mpicc", "mpicxx", "mpic++")
LAUNCHERS = ("mpiexec", "mpirun")
FORTRAN = ("mpifort", "mpif90", "mpif77")
COMPLETIONS = {
    "bash": "share/bash-completion/completions/cornerstone",
    "zsh": "share/zsh/site-functions/_cornerstone",
    "fish": "share/fish/vendor_completions.d/cornerstone.fish",
}


def fail(why):
    sys.exit(f"packaging: {why}")


def must(command, **options):
    """Runs a command, and ends the program if it fails. Prints the command's output only in that case."""
    done = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )
    if done.returncode != 0:
        print(done.stdout[-4000:], file=sys.stderr)
        fail(f"this failed with status {done.returncode}: {' '.join(map(str, command))}")
    return done.stdout


def version():
    """Returns the version of the workspace."""
    text = (ROOT / "Cargo.toml").read_text()
    return re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', text, re.MULTILINE).group(1)


def built(folder, name):
    """Returns a file that cargo has built. Libraries are also in `deps`, and newer there after a build of tests."""
    places = [place for place in (folder / name, folder / "deps" / name) if place.is_file()]
    if not places:
        fail(
            f"'{folder}' has no {name}: build it with `cargo build --release --package {' --package '.join(PACKAGES)}`"
        )
    return max(places, key=lambda place: place.stat().st_mtime)


def stripped(source, debug):
    """Returns a program or library without debug information. Writes that into the folder `debug`, if there is one."""
    if shutil.which("objcopy") is None:
        return source.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / source.name
        options = ["--strip-unneeded" if source.suffix else "--strip-all"]
        if debug:
            debug.mkdir(parents=True, exist_ok=True)
            apart = debug / f"{source.name}.debug"
            must(["objcopy", "--only-keep-debug", source, apart])
            options.append(f"--add-gnu-debuglink={apart}")
        must(["objcopy", *options, source, copy])
        return copy.read_bytes()


def generated(program):
    """Returns the man pages and completions that the program writes: (path, content)."""
    with tempfile.TemporaryDirectory() as folder:
        must([program, "generate", "man", "--output", folder])
        for page in sorted(pathlib.Path(folder).iterdir()):
            yield f"share/man/man1/{page.name}", page.read_bytes()
    for shell, path in COMPLETIONS.items():
        yield path, must([program, "generate", shell]).encode()


def files(folder, debug=None):
    """Returns every file of an installation of the build in `folder`: (path, content, whether it is executable)."""
    program = built(folder, PROGRAM)
    yield f"bin/{PROGRAM}", stripped(program, debug), True
    for name in COMPILERS:
        yield f"bin/{name}", (PACKAGING / "mpicc").read_bytes(), True
    for name in LAUNCHERS:
        yield f"bin/{name}", (PACKAGING / "mpiexec").read_bytes(), True
    for name in FORTRAN:
        yield f"bin/{name}", (PACKAGING / "mpifort").read_bytes(), True
    for name, path in LIBRARIES.items():
        yield path, stripped(built(folder, name), debug), True
    # A wheel cannot contain links, so this file is a script for the linker.
    yield "lib/libmpi_abi.so", b"INPUT(libmpi_abi.so.1)\n", False
    yield "include/mpi.h", (ROOT / "crates/libmpi-abi/include/mpi.h").read_bytes(), False
    yield "include/hcs.h", (ROOT / "crates/libhcs/include/hcs.h").read_bytes(), False
    package = (PACKAGING / "mpi.pc").read_text().replace("@VERSION@", version())
    yield "lib/pkgconfig/mpi.pc", package.encode(), False
    for path, content in generated(program):
        yield path, content, False
    for examples in ("patterns", "pipelines", "machines"):
        for path in sorted((ROOT / examples).iterdir()):
            yield f"share/cornerstone/{examples}/{path.name}", path.read_bytes(), False
    # Hints and help texts name these pages.
    for folder in ("docs", "docs/guides", "docs/simulation"):
        for path in sorted((ROOT / folder).glob("*.md")):
            yield f"share/cornerstone/{folder}/{path.name}", path.read_bytes(), False


def place_files(prefix, folder):
    """Writes every file of an installation below `prefix`."""
    for path, content, is_program in files(folder):
        target = prefix / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # The new file replaces the old one in one step, because the old one may be running.
        fresh = target.with_name(f".{target.name}.{os.getpid()}")
        fresh.write_bytes(content)
        fresh.chmod(0o755 if is_program else 0o644)
        fresh.replace(target)
