"""What cargo has built, installed as a user would, for libraries that want to find an MPI that is installed."""

import os
import shutil
import sys

from common import BUILT, ROOT

sys.path.insert(0, str(ROOT / "packaging"))
import tree  # noqa: E402


def place(folder):
    """Installs below `folder`, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    tree.place_files(folder, BUILT)


def environment(*prefixes):
    """That of commands which find programs and packages below these, the first before the others."""
    path = os.pathsep.join([*(str(prefix / "bin") for prefix in prefixes), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "CMAKE_PREFIX_PATH": os.pathsep.join(map(str, prefixes))}


def missing(*tools):
    """The first of these programs that this machine lacks, or None."""
    return next((tool for tool in tools if shutil.which(tool) is None), None)
