"""The OSU micro-benchmarks, with validation of every message."""

import os

from common import COMPILER, COMPILER_CXX, WORK, Skips, Tally, configured, must, run, selected

VARIABLE = "CORNERSTONE_OSU_SOURCE"
RANKS = (2, 4, 8)

# Enough repetitions to send every size through every path. These runs validate; they do not measure times.
OPTIONS = ["-c", "-x", "1", "-i", "4", "-m", "1:1048576"]
NO_VALIDATION = ("osu_barrier", "osu_ibarrier", "osu_barrier_persistent", "osu_hello", "osu_init")
# Only the one-sided programs that have the option validate. Each kind of window and of epoch is tried once.
ONE_SIDED = [("-w", window, "-s", "flush") for window in ("create", "allocate", "dynamic")]
ONE_SIDED += [("-w", "allocate", "-s", epoch) for epoch in ("flush_local", "lock", "lock_all", "pscw", "fence")]
# Programs of neighbourhood collectives form a ring, and need two different neighbours. They refuse two ranks.
NEIGHBOURHOOD_LEAST, NEIGHBOURHOOD_RANKS = 3, (4,)


def build(source):
    """Builds outside the source folder, once. Returns the folder with the programs."""
    folder = WORK / "osu"
    configured(source, folder, {"CC": str(COMPILER), "CXX": str(COMPILER_CXX)})
    must(["make", "-C", folder, f"-j{os.cpu_count()}"])
    return folder / "c" / "mpi"


def programs(folder):
    """Returns the programs of the profile: point to point, collectives of all kinds, one-sided."""
    for part in ("pt2pt/standard", "pt2pt/persistent", "pt2pt/partitioned", "pt2pt", "collective/blocking",
                 "collective/non_blocking", "collective/persistent", "collective/neighborhood", "startup", "one-sided"):
        for path in sorted((folder / part).glob("osu_*")):
            if path.is_file() and os.access(path, os.X_OK):
                yield part, path


def verdict(name, ended):
    if ended.status != 0:
        return ended.reason()
    if "Fail" in ended.output:
        return "validation failed"
    if name not in NO_VALIDATION and "Pass" not in ended.output:
        return "nothing was validated"
    return None


def counts(part, path, ranks):
    """Returns those of the requested numbers of ranks with which a program can run."""
    if part.endswith("neighborhood"):
        return tuple(count for count in ranks if count >= NEIGHBOURHOOD_LEAST) or NEIGHBOURHOOD_RANKS
    # Most point-to-point programs need two ranks, and refuse other numbers.
    only_two = part.startswith("pt2pt") and not path.name.startswith(("osu_mbw_mr", "osu_multi_lat"))
    return tuple(count for count in ranks if count == 2) if only_two else ranks


def test_one_sided(tally, path):
    """Runs a program with every kind of window and of epoch that it accepts."""
    known = run(1, [path, "--help"]).output
    for words in ONE_SIDED:
        label = f"{path.name} {' '.join(words)} at 2 ranks"
        if not selected(label) or f" {words[3]} " not in known:
            continue
        options = [word for word in OPTIONS if word != "-c" or "--validation" in known]
        if "--message-size" not in known:
            options = ["-x", "1", "-i", "100"]
        ended = run(2, [path, *options, *words])
        # The help of some programs names epochs that the program refuses.
        if "Invalid option or invalid argument [-s" in ended.output:
            continue
        # Some programs that have the option validate nothing.
        failure = ended.reason() if ended.status != 0 else "validation failed" if "Fail" in ended.output else None
        tally.take(label, failure)


def test(source, ranks=RANKS):
    tally, skips = Tally("osu"), Skips("osu")
    folder = build(source)
    for part, path in programs(folder):
        if part == "one-sided":
            test_one_sided(tally, path)
            continue
        for count in counts(part, path, ranks):
            label = f"{path.name} at {count} ranks"
            if not selected(label):
                continue
            reason = skips.reason(path.name)
            if reason:
                tally.skip(label, reason)
                continue
            options = OPTIONS if path.name not in NO_VALIDATION else []
            tally.take(label, verdict(path.name, run(count, [path] + options)))
    tally.close()
    return tally
