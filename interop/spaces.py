"""Hosts that are network name spaces, connected by cables with a set rate, which can be cut.

Each cable between two hosts connects them directly, so both notice a cut. With more hosts, each has a cable to the
switch of every network, and the other hosts do not notice a cut."""

import contextlib
import os
import signal
import subprocess

from common import must

# The queue of a cable holds all that TCP can have under way, so only cuts lose data.
BUCKET = ("burst", "32kb", "limit", "16mb")
# The longest time that a program takes to end after a signal.
END_S = 10


class Hosts:
    """A context with the hosts, which it always removes at its end. Each host has `cables` cables."""

    def __init__(self, name, rate, cables, hosts=2):
        self.spaces = [f"{name}-{os.getpid()}{chr(ord('a') + host)}" for host in range(hosts)]
        # The name space that contains the switches of all networks.
        self.switch = f"{name}-{os.getpid()}switch" if hosts > 2 else None
        self.rate, self.cables = rate, range(cables)
        # Why this machine cannot have such hosts, or None.
        self.missing = None

    def __enter__(self):
        self.before = signal.signal(signal.SIGTERM, end_by_signal)
        try:
            self.missing = self.make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        for space in filter(None, [*self.spaces, self.switch]):
            # A cable is removed together with its ends.
            subprocess.run(["ip", "netns", "delete", space], capture_output=True)
        signal.signal(signal.SIGTERM, self.before)

    def make(self):
        """Makes the hosts. Returns why not if the system does not permit it."""
        commands = [["ip", "netns", "add", space] for space in self.spaces]
        commands += [["ip", "-n", space, "link", "set", "lo", "up"] for space in self.spaces]
        if self.switch:
            commands.append(["ip", "netns", "add", self.switch])
        for cable in self.cables:
            name = f"cable{cable}"
            commands += (
                self.switched(cable, name) if self.switch else [self.link(name, self.spaces[0], name, self.spaces[1])]
            )
            for host, space in enumerate(self.spaces):
                commands.append(["ip", "-n", space, "address", "add", f"{address(cable, host)}/24", "dev", name])
                commands.append(["ip", "-n", space, "link", "set", name, "up"])
                commands.append(
                    ["tc", "-n", space, "qdisc", "add", "dev", name, "root", "tbf", "rate", self.rate, *BUCKET]
                )
        for command in commands:
            try:
                done = subprocess.run(command, capture_output=True, text=True)
            except FileNotFoundError as error:
                return f"{error.filename} is not installed (Debian's iproute2)"
            if done.returncode != 0:
                hint = "" if os.geteuid() == 0 else "; root only"
                return f"`{' '.join(command)}` failed: {done.stderr.strip()}{hint}"
        return None

    @staticmethod
    def link(name, space, other_name, other_space):
        return [
            "ip",
            "link",
            "add",
            name,
            "netns",
            space,
            "type",
            "veth",
            "peer",
            "name",
            other_name,
            "netns",
            other_space,
        ]

    def switched(self, cable, name):
        """Returns the commands that connect the hosts to a network's switch, with the cables' rate at its ports."""
        network = f"network{cable}"
        commands = [["ip", "-n", self.switch, "link", "add", network, "type", "bridge"]]
        commands.append(["ip", "-n", self.switch, "link", "set", network, "up"])
        for host, space in enumerate(self.spaces):
            port = f"port{cable}-{host}"
            commands.append(self.link(name, space, port, self.switch))
            commands.append(["ip", "-n", self.switch, "link", "set", port, "master", network, "up"])
            commands.append(
                ["tc", "-n", self.switch, "qdisc", "add", "dev", port, "root", "tbf", "rate", self.rate, *BUCKET]
            )
        return commands

    def set_cable(self, cable, host, state):
        """Cuts a cable at a host (`down`), or repairs it (`up`)."""
        must(["ip", "-n", self.spaces[host], "link", "set", f"cable{cable}", state])

    def describe(self, folder, slots):
        """Writes files for a launcher: `hosts`, and the program `agent`, which is called in the same way as ssh."""
        agent = folder / "agent"
        known = "".join(f"    {address(0, host)}) space={space};;\n" for host, space in enumerate(self.spaces))
        agent.write_text(f'#!/bin/sh\ncase $1 in\n{known}esac\nshift\nexec ip netns exec $space sh -c "$*"\n')
        agent.chmod(0o700)
        addresses = [[address(cable, host) for cable in self.cables] for host in range(len(self.spaces))]
        lines = [f"{own[0]}:{slots}@{','.join(own)}\n" for own in addresses]
        (folder / "hosts").write_text("".join(lines))

    @contextlib.contextmanager
    def running(self, command, folder, environment=None):
        """Starts a program on the first host. The program ends with the context."""
        words = ["ip", "netns", "exec", self.spaces[0], *map(str, command)]
        process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env={**os.environ, **(environment or {})}, start_new_session=True,
        )
        try:
            yield process
        finally:
            end(process)


def end(process):
    """Ends a program that still runs. The first attempt is that of a user, so that the program can end its ranks."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.communicate(timeout=END_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def end_by_signal(_number, _frame):
    raise SystemExit("interop: ended by a signal")


def address(cable, host):
    """Returns an address from a range that is reserved for measurements (RFC 2544)."""
    return f"198.{18 + cable}.250.{host + 1}"
