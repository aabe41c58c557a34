#!/usr/bin/env python3
"""Installs Cornerstone into a folder, or makes a wheel of it.

  packaging/package.py install /usr/local      the command, mpiexec, mpicc, libraries, header, man pages
  packaging/package.py wheel                   a wheel for `pip install`, for systems with glibc 2.28 and later

What is installed is built first, unless --built names a folder that has it, such as target/release.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import re
import sys
import venv
import zipfile

from tree import LIBRARIES, PACKAGES, PROGRAM, ROOT, built, fail, files, must, place_files, version

NAME = "cornerstone_mpi"
# The oldest C library for which a wheel is built: that of RHEL 8, Debian 10 and Ubuntu 18.10.
GLIBC = "2.28"
TARGET = "x86_64-unknown-linux-gnu"


def target_folder():
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def packages():
    return [word for package in PACKAGES for word in ("--package", package)]


def build_here():
    """Builds for this machine. Returns the folder."""
    must(["cargo", "build", "--release", "--locked", *packages()], cwd=ROOT)
    return target_folder() / "release"


def build_for_old_systems():
    """Builds with the linker of zig, which has the symbols of older C libraries. Returns the folder."""
    tools = target_folder() / "package" / "tools"
    if not (tools / "bin" / "cargo-zigbuild").exists():
        venv.create(tools, with_pip=True)
        must([tools / "bin" / "pip", "install", "--quiet", "cargo-zigbuild", "ziglang"])
    # cargo-zigbuild searches for zig as a module of the first Python in PATH.
    path = os.pathsep.join((str(tools / "bin"), os.environ["PATH"]))
    command = ["cargo", "zigbuild", "--profile", "packaged", "--locked", "--target", f"{TARGET}.{GLIBC}", *packages()]
    must(command, cwd=ROOT, env={**os.environ, "PATH": path})
    return target_folder() / TARGET / "packaged"


def install(prefix, folder):
    place_files(prefix, folder)
    print(f"installed into {prefix}")


def needed_glibc(folder):
    """Returns the newest version of the C library whose symbols are used, such as (2, 28)."""
    used = set()
    for name in (PROGRAM, *LIBRARIES):
        symbols = must(["objdump", "-T", built(folder, name)])
        used.update(tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_(2\.[0-9]+)", symbols))
    return max(used)


def wheel(out, folder):
    """Writes a wheel. Returns its path."""
    major, minor = needed_glibc(folder)
    tag = f"py3-none-manylinux_{major}_{minor}_{os.uname().machine}"
    label = f"{NAME}-{version()}"
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{label}-{tag}.whl"
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:

        def add(name, content, is_program=False):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            archive.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(content)}")

        for place, content, is_program in files(folder, debug=out / "debug"):
            # Installers put `scripts` into the folder of programs, and `data` below the prefix.
            name = place.replace("bin/", "scripts/", 1) if place.startswith("bin/") else f"data/{place}"
            add(f"{label}.data/{name}", content, is_program)
        information = f"{label}.dist-info"
        add(f"{information}/METADATA", metadata())
        add(
            f"{information}/WHEEL",
            f"Wheel-Version: 1.0\nGenerator: cornerstone\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(),
        )
        for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
            add(f"{information}/licenses/{licence}", (ROOT / licence).read_bytes())
        archive.writestr(f"{information}/RECORD", "\n".join([*record, f"{information}/RECORD,,", ""]))
    return path


def metadata():
    head = (
        ("Metadata-Version", "2.4"),
        ("Name", NAME.replace("_", "-")),
        ("Version", version()),
        (
            "Summary",
            "An MPI that is fast where ranks outnumber processors, and a laboratory for message-passing machines",
        ),
        ("License-Expression", "MIT OR Apache-2.0"),
        ("License-File", "LICENSE-APACHE"),
        ("License-File", "LICENSE-MIT"),
        ("Keywords", "mpi,message passing,benchmark,simulation,real-time"),
        ("Classifier", "Operating System :: POSIX :: Linux"),
        ("Description-Content-Type", "text/markdown"),
    )
    lines = "".join(f"{name}: {value}\n" for name, value in head)
    return (lines + "\n" + (ROOT / "packaging" / "wheel.md").read_text()).encode()


def main():
    parser = argparse.ArgumentParser(
        prog="packaging/package.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    actions = parser.add_subparsers(dest="action", required=True)
    for action, place, default in (("install", "prefix", None), ("wheel", "--out", target_folder() / "wheels")):
        words = actions.add_parser(action)
        words.add_argument(place, type=pathlib.Path, default=default, metavar="FOLDER")
        words.add_argument("--built", type=pathlib.Path, metavar="FOLDER", help="where cargo has built what is taken")
    given = parser.parse_args()
    if given.built and not given.built.is_dir():
        fail(f"'{given.built}' is no folder")
    if given.action == "install":
        install(given.prefix.absolute(), given.built or build_here())
        return
    path = wheel(given.out.absolute(), given.built or build_for_old_systems())
    print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    sys.exit(main())
