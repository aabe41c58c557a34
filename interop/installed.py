"""An installation of the files that cargo has built, for libraries that need an installed MPI."""

import os
import shutil
import sys

from common import BUILT, ROOT

sys.path.insert(0, str(ROOT / "packaging"))
import tree  # noqa: E402


def place(folder):
    """Installs below `folder`, after removing its contents."""
    shutil.rmtree(folder, ignore_errors=True)
    tree.place_files(folder, BUILT)


def environment(*prefixes):
    """Returns the environment of commands that find programs and packages below `prefixes`, in this order."""
    path = os.pathsep.join([*(str(prefix / "bin") for prefix in prefixes), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "CMAKE_PREFIX_PATH": os.pathsep.join(map(str, prefixes))}


def missing(*tools):
    """Returns the first of these programs that is missing on this machine, or None."""
    return next((tool for tool in tools if shutil.which(tool) is None), None)
