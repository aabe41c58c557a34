"""Throughput over time around a fault and around congestion, on two hosts of network name spaces and on a simulated
machine with the same parameters."""

import json
import pathlib
import subprocess
import tempfile
import time

from common import LAUNCHER, Tally, selected
from spaces import Hosts

# The parameters, from which the commands of the hosts and the machine file are made.
RATE_MBIT = 200
CABLES = 2
SIZE_BYTES = 64 << 10
DURATION_S = 6.0
CUT_S, MENDED_S = 2.0, 4.0
CUT_CABLE, CUT_HOST = 0, 1
# A frame has 1448 bytes of the program's data, and headers of 14 (Ethernet), 20 (IP) and 32 (TCP with time stamps).
PAYLOAD_BYTES, HEADER_BYTES = 1448, 66
# The bytes under way on the first cable before the second is used, and the silence after which data are sent again
# (docs/decisions/0012-tcp-without-threads-or-unsafe-code.md).
DETOUR_BYTES, NOTICE_US = 256 << 10, 250_000
# The time through the system. It was not measured, and has no effect at this rate and size.
LATENCY_US = 20

# A stream has begun when the first cable has carried more than the start of a run needs.
BEGUN_BYTES = 256 << 10
LIMIT_S = 60
SLICE_S = 0.2
# The rate has recovered when it is this share of the earlier rate.
BACK = 0.9

NETWORK = f"""shape = "line"
link_mb_per_s = {RATE_MBIT / 8}
latency_us = {LATENCY_US}
packet_bytes = {PAYLOAD_BYTES}
header_bytes = {HEADER_BYTES}
notice_us = {NOTICE_US}
"""

FAULT = f"""[[fault]]
at_us = {CUT_S * 1e6:.0f}
until_us = {MENDED_S * 1e6:.0f}
network = "cable{CUT_CABLE}"
link = [0, 1]
"""


def machine(slots):
    """Returns the machine file of two hosts with `slots` ranks each."""
    shared = f"nodes_per_port = {slots}\n" if slots > 1 else ""
    memory = '[[inner_network]]\nname = "memory"\nnodes = %d\nshape = "bus"\nlink_mb_per_s = 5000\n\n' % slots
    return f"""name = "two-hosts"
title = "two hosts with two cables of {RATE_MBIT} Mbit/s"
level = "packets"

[processor]
floating_point_mflops = 1000
polling_us = 0.1

[endpoint]
send_us = 5
receive_us = 5

{memory if slots > 1 else ""}[[inner_network]]
name = "cable0"
nodes = {2 * slots}
{shared}detour_bytes = {DETOUR_BYTES}
{NETWORK}
[network]
name = "cable1"
{shared}{NETWORK}
[[source]]
of = ["processor", "endpoint", "network", "inner_network"]
kind = "assumed"
from = "the hosts of interop/faults.py: rate and frames of the cables as they are set, the rest without influence"
"""


class Course:
    """The report of a run about a stream: its rate in a hundred equal parts of its time."""

    def __init__(self, file):
        records = [json.loads(line) for line in file.read_text().splitlines()]
        self.metrics = {one["metric"]: one for one in records if one["kind"] == "measurement"}
        rate = self.metrics["rate"]
        self.end_s, self.rates = rate["timing"]["spent_s"], rate["samples"]

    def part_s(self):
        return self.end_s / len(self.rates)

    def mean(self, begin_s, end_s, metric="rate"):
        """Returns the mean rate in a span of time, in MB/s."""
        part_s, moved = self.part_s(), 0.0
        for number, rate in enumerate(self.metrics[metric]["samples"]):
            shared_s = min(end_s, (number + 1) * part_s) - max(begin_s, number * part_s)
            moved += rate * max(shared_s, 0)
        return moved / (end_s - begin_s)

    def messages(self):
        return round(sum(self.rates) * self.part_s() * 1e6 / SIZE_BYTES)

    def gap_s(self):
        return self.metrics["gap"]["max"] / 1e6

    def back_s(self, wanted, since_s):
        """Returns the time from a moment until the rate is `wanted` again, or None if it never is."""
        part_s = self.part_s()
        parts = (at * part_s for at, rate in enumerate(self.rates) if at * part_s >= since_s and rate >= wanted)
        return next((begin - since_s for begin in parts), None)


def words(benchmark, ranks, file):
    return [
        LAUNCHER,
        "run",
        benchmark,
        "--ranks",
        ranks,
        "--sizes",
        SIZE_BYTES,
        "--duration",
        f"{DURATION_S}s",
        "--launches",
        1,
        "--out",
        file,
    ]


def sent_bytes(process):
    """Returns the number of bytes that the first cable has carried from the first host."""
    try:
        lines = pathlib.Path(f"/proc/{process.pid}/net/dev").read_text().splitlines()
    except OSError:
        return 0
    fields = next((line.split(":")[1].split() for line in lines if line.strip().startswith("cable0:")), None)
    return int(fields[8]) if fields else 0


def on_hosts(hosts, folder, benchmark, slots, cuts):
    """Runs a benchmark on the two hosts. Returns its course, or why there is none."""
    hosts.describe(folder, slots)
    file = folder / f"{benchmark}-real.jsonl"
    more = ["--fabric", "cluster", "--hosts", "hosts", "--agent", folder / "agent"]
    with hosts.running([*words(benchmark, 2 * slots, file), *more], folder) as process:
        if cuts:
            before, start = sent_bytes(process), time.monotonic()
            while sent_bytes(process) - before < BEGUN_BYTES and process.poll() is None:
                if time.monotonic() - start > LIMIT_S:
                    return None, "no stream began"
                time.sleep(0.001)
            time.sleep(CUT_S)
            hosts.set_cable(CUT_CABLE, CUT_HOST, "down")
            time.sleep(MENDED_S - CUT_S)
            hosts.set_cable(CUT_CABLE, CUT_HOST, "up")
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return None, f"it does not end within {LIMIT_S} s"
        return course(process.returncode, output, file)


def simulated(folder, benchmark, slots, cuts):
    """The same on a simulated machine."""
    (folder / "machine.toml").write_text(machine(slots))
    (folder / "faults.toml").write_text(FAULT)
    file = folder / f"{benchmark}-simulated.jsonl"
    more = ["--fabric", "sim:machine.toml", *(["--faults", "faults.toml"] if cuts else [])]
    command = [str(word) for word in [*words(benchmark, 2 * slots, file), *more]]
    try:
        done = subprocess.run(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return None, f"it does not end within {LIMIT_S} s"
    return course(done.returncode, done.stdout, file)


def course(status, output, file):
    return (Course(file), None) if status == 0 else (None, f"status {status}: {output.strip()[-400:]}")


def row(name, *cells):
    print(f"    {name:<44}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def print_courses(courses, marks):
    """Prints a row for each slice of the time, with a column for each run and a column of events."""
    row("time, s", "real, MB/s", "simulated")
    for number in range(round(DURATION_S / SLICE_S)):
        begin, end = number * SLICE_S, (number + 1) * SLICE_S
        what = "".join(f"  {mark}" for moment, mark in marks if begin - 1e-9 <= moment < end - 1e-9)
        row(f"{begin:.1f} to {end:.1f}{what}", *(f"{one.mean(begin, end):.1f}" for one in courses))


def judge(tally, name, found):
    """Counts whether both runs ended with every message. Returns their courses."""
    for where, (_, why) in zip(("hosts", "simulated machine"), found):
        tally.take(f"{name}, {where}: 0 messages lost, 0 doubled, 0 out of order", why)
    courses = [of for of, _ in found if of]
    return courses if len(courses) == 2 else None


def fault(tally, hosts, folder):
    found = (on_hosts(hosts, folder, "steady-stream", 1, True), simulated(folder, "steady-stream", 1, True))
    courses = judge(tally, "fault", found)
    if not courses:
        return
    print_courses(courses, [(CUT_S, "cut"), (MENDED_S, "mended")])
    # One part on each side is left out, because times are those of the parts, not of the messages.
    before = [one.mean(2 * SLICE_S, CUT_S - SLICE_S) for one in courses]
    between = [one.mean(CUT_S + 3 * SLICE_S, MENDED_S) for one in courses]
    after = [one.mean(DURATION_S - 3 * SLICE_S, DURATION_S) for one in courses]
    row("messages", *(one.messages() for one in courses))
    row("lost, doubled, out of order", *("0, 0, 0" for _ in courses))
    row("until data flowed again (longest gap), s", *(f"{one.gap_s():.3f}" for one in courses))
    for what, rates in (("before", before), ("with one cable", between), ("at the end", after)):
        row(f"rate {what}, MB/s", *(f"{rate:.1f}" for rate in rates))
    back = [one.back_s(BACK * rate, MENDED_S) for one, rate in zip(courses, before)]
    row(
        f"mended until {100 * BACK:.0f} % of the rate before, s",
        *("never" if one is None else f"{one:.2f}" for one in back),
    )
    for when, rates in (("while a cable is cut", between), ("at the end", after)):
        stands = None if min(rates) > 0 else f"{rates} MB/s"
        tally.take(f"fault: data flow {when}", stands)


def congestion(tally, hosts, folder):
    found = (on_hosts(hosts, folder, "shared-stream", 2, False), simulated(folder, "shared-stream", 2, False))
    courses = judge(tally, "congestion", found)
    if not courses:
        return
    third = DURATION_S / 3
    print_courses(courses, [(third, "a second stream begins"), (2 * third, "it ends")])
    spans = [("alone", 2 * SLICE_S, third), ("beside the other", third + SLICE_S, 2 * third),
             ("at the end", DURATION_S - 3 * SLICE_S, DURATION_S)]
    for what, begin, end in spans:
        row(f"rate {what}, MB/s", *(f"{one.mean(begin, end):.1f}" for one in courses))
    row("rate of the other, MB/s", *(f"{one.mean(third + SLICE_S, 2 * third, 'others'):.1f}" for one in courses))
    row("longest gap, s", *(f"{one.gap_s():.3f}" for one in courses))
    rates = [one.mean(*spans[-1][1:]) for one in courses]
    tally.take("congestion: data flow at the end", None if min(rates) > 0 else f"{rates} MB/s")


def test(ranks=None):
    tally = Tally("faults", "cluster and a simulated machine")
    with tempfile.TemporaryDirectory() as name, Hosts("faults", f"{RATE_MBIT}mbit", CABLES) as hosts:
        for scenario in (fault, congestion):
            if hosts.missing:
                tally.skip(scenario.__name__, f"two hosts of network name spaces cannot be made: {hosts.missing}")
            elif selected(scenario.__name__):
                scenario(tally, hosts, pathlib.Path(name))
    tally.close()
    return tally
