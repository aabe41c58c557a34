"""Applications on SimGrid's SMPI, for a comparison of predictions. They are rebuilt by its wrapper, and run on a
platform of two hosts or more."""

import re
import shutil
import subprocess
import time

import programs
from common import COMPILER, COMPILER_CXX, TIME_LIMIT_S

# Debian's package libsimgrid-dev contains these programs.
NEEDED = ("smpicc", "smpicxx", "smpirun")
# Computing takes its measured time: the speed of a host is the one that SMPI assumes for the real machine.
OPTIONS = ["--cfg=smpi/host-speed:1Gf", "--log=root.thresh:critical", "--cfg=smpi/display-timing:no"]
# The rate of a copy in memory, in bytes per second. The applications send little, so it has little effect.
LINK_BYTES_PER_S = 10e9


def missing():
    """Returns the first of SMPI's commands that is not installed, or None."""
    return next((one for one in NEEDED if shutil.which(one) is None), None)


def built(program, source):
    """Builds a program with SMPI's wrappers, and returns its folder. Macros in their header break some programs."""
    try:
        return programs.built(program, source, "programs-smpi", {str(COMPILER_CXX): "smpicxx", str(COMPILER): "smpicc"})
    except SystemExit as error:
        raise RuntimeError(f"{program.name} cannot be built by smpicc") from error


def latency_us(machine):
    """Returns the latency of the network in a machine file."""
    return float(re.search(r"^latency_us = (\S+)", machine.read_text(), re.M)[1])


def platform(folder, ranks, machine):
    """Writes a platform with a host for each rank, and the list of hosts."""
    hosts = "".join(f'<host id="host-{rank}" speed="1Gf"/>\n' for rank in range(ranks))
    routes = "".join(
        f'<route src="host-{one}" dst="host-{other}"><link_ctn id="memory"/></route>\n'
        for one in range(ranks) for other in range(one + 1, ranks)
    )
    link = (
        f'<link id="memory" bandwidth="{LINK_BYTES_PER_S:.0f}Bps" latency="{latency_us(machine)}us" '
        'sharing_policy="FATPIPE"/>\n'
    )
    head = (
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1"><zone id="all" routing="Full">\n'
    )
    (folder / "platform.xml").write_text(f"{head}{hosts}{link}{routes}</zone></platform>\n")
    (folder / "hosts").write_text("".join(f"host-{rank}\n" for rank in range(ranks)))


def predicted(program, folder, ranks, machine):
    """Returns the time that a program measured on SMPI, and how long the simulation took, in seconds."""
    place = folder / "results"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    platform(place, ranks, machine)
    words = [
        "smpirun",
        "-np",
        ranks,
        "-platform",
        "platform.xml",
        "-hostfile",
        "hosts",
        *OPTIONS,
        *program.command(folder, ranks),
    ]
    start = time.monotonic()
    done = subprocess.run(
        list(map(str, words)),
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIME_LIMIT_S,
    )
    took = time.monotonic() - start
    if done.returncode != 0:
        raise RuntimeError(f"{program.name} on SMPI: status {done.returncode}: {done.stdout.strip()[-200:]}")
    output = done.stdout + "".join(path.read_text(errors="replace") for path in sorted(place.glob("*.txt")))
    return program.seconds(output), took
