"""Hundreds of cuts of cables between two hosts of network name spaces, while a program sends messages whose bytes it checks."""

import os
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import tempfile
import time

from ground import COMPILER, LAUNCHER, LIBRARY, ROOT, Tally, must

CUTS = int(os.environ.get("CORNERSTONE_CUTS", "300"))
SEED = int(os.environ.get("CORNERSTONE_SEED", "1"))
PROGRAM = ROOT / "crates" / "cornerstone" / "tests" / "command" / "cuts.c"
RATE = "500mbit"
# What is wanted: a cut is over when messages have passed again.
WANTED_S = 1.0
# Nothing here takes longer, but a hang.
LIMIT_S = 30
SPACES = [f"cuts-{os.getpid()}{end}" for end in "ab"]
CABLES = 2


def address(cable, host):
    return f"198.{18 + cable}.250.{host + 1}"


def lay_cables():
    """Makes the hosts; why not, where the system does not allow it."""
    commands = [["ip", "netns", "add", space] for space in SPACES]
    commands += [["ip", "-n", space, "link", "set", "lo", "up"] for space in SPACES]
    for cable in range(CABLES):
        name = f"cable{cable}"
        commands.append(["ip", "link", "add", name, "netns", SPACES[0], "type", "veth", "peer", "name", name,
                         "netns", SPACES[1]])
        for host, space in enumerate(SPACES):
            commands.append(["ip", "-n", space, "address", "add", f"{address(cable, host)}/30", "dev", name])
            commands.append(["ip", "-n", space, "link", "set", name, "up"])
            commands.append(["tc", "-n", space, "qdisc", "add", "dev", name, "root", "tbf", "rate", RATE, "burst",
                             "32kb", "limit", "16mb"])
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError as error:
            return str(error)
        if done.returncode != 0:
            return done.stderr.strip()
    return None


def remove_cables():
    for space in SPACES:
        subprocess.run(["ip", "netns", "delete", space], capture_output=True)


class Running:
    """The program on both hosts."""

    def __init__(self, folder):
        self.folder = folder
        agent = folder / "agent"
        agent.write_text(
            "#!/bin/sh\nhost=$1\nshift\n"
            f'if [ "$host" = {address(0, 0)} ]; then space={SPACES[0]}; else space={SPACES[1]}; fi\n'
            'exec ip netns exec $space sh -c "$*"\n'
        )
        agent.chmod(0o700)
        lines = [f"{address(0, host)}:2@{','.join(address(cable, host) for cable in range(CABLES))}\n" for host in (0, 1)]
        (folder / "hosts").write_text("".join(lines))
        must([COMPILER, "-O2", "-o", folder / "program", PROGRAM])
        words = ["ip", "netns", "exec", SPACES[0], LAUNCHER, "launch", "--hosts", "hosts", "--agent", agent, "-n", "4",
                 "./program", "stop", "counter", str(SEED)]
        self.process = subprocess.Popen(
            [str(word) for word in words], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env={**os.environ, "LD_LIBRARY_PATH": str(LIBRARY)}, start_new_session=True,
        )

    def rounds(self):
        try:
            data = (self.folder / "counter").read_bytes()
        except FileNotFoundError:
            return 0
        return struct.unpack("<q", data)[0] if len(data) == 8 else 0

    def wait_for_rounds(self, more):
        """How long it takes until so many further rounds are made; None if they never are."""
        begin, wanted = time.monotonic(), self.rounds() + more
        while self.rounds() < wanted:
            if time.monotonic() - begin > LIMIT_S or self.process.poll() is not None:
                return None
            time.sleep(0.001)
        return time.monotonic() - begin

    def end(self):
        """Why it did not end well, or None."""
        (self.folder / "stop").touch()
        try:
            output, _ = self.process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            return "it does not end"
        print(f"    {output.strip()[:400]}", flush=True)
        return None if self.process.returncode == 0 else f"status {self.process.returncode}"


def cut_at_random(running, chance):
    """Cuts cables at random moments; how long each cut kept messages from passing, or None where they never did again."""
    pauses = []
    for _ in range(CUTS):
        cable = f"cable{chance.randrange(CABLES)}"
        ends = ["ip", "-n", SPACES[chance.randrange(2)], "link", "set", cable]
        must([*ends, "down"])
        # The round that was under way may have had all its bytes.
        pauses.append(running.wait_for_rounds(2))
        if pauses[-1] is None:
            return pauses
        time.sleep(chance.uniform(0, 0.2))
        must([*ends, "up"])
        # Either cable may be cut next, so the mended one has to carry again.
        time.sleep(chance.uniform(0.05, 0.6))
    return pauses


def test(ranks=None):
    tally = Tally("cuts", "cluster")
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        why = lay_cables()
        if why:
            tally.skip(f"{CUTS} cuts", f"two hosts of network name spaces cannot be made: {why}")
        else:
            judge(tally, folder)
    finally:
        remove_cables()
        shutil.rmtree(folder)
    tally.close()
    return tally


def judge(tally, folder):
    running = Running(folder)
    if running.wait_for_rounds(10) is None:
        tally.take("messages pass before the first cut", running.end() or "they do not")
        return
    pauses = cut_at_random(running, random.Random(SEED))
    ended = running.end()
    stopped = "messages did not pass again" if None in pauses else None
    tally.take(f"{len(pauses)} cuts, seed {SEED}: every byte came, once and in order", stopped or ended)
    if not stopped:
        longest = max(pauses)
        print(f"    until messages passed again: median {statistics.median(pauses):.3f} s, longest {longest:.3f} s")
        late = f"{sum(pause > WANTED_S for pause in pauses)} took longer, up to {longest:.2f} s"
        tally.take(f"messages pass again within {WANTED_S:.0f} s", late if longest > WANTED_S else None)
