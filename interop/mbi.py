"""The codes of the MPI Bugs Initiative: each has one mistake, which a message must name by its kind, or none."""

import collections
import os
import re
import subprocess
import sys

from common import COMPILER, WORK, Skips, Tally, must, run, selected

VARIABLE = "CORNERSTONE_MBI"
FOLDER = WORK / "mbi"
OPTIONS = ["--check", "--check-leaks"]
# The codes take milliseconds. A hang that nothing explains reaches this.
LIMIT_S = 30

ERROR = r"MPI_\w+: {}: [^\n]*"
MISMATCH = r"do not match: [^\n]*"
# Calls or messages that have no partner: told by the mismatch, by the deadlock that follows, or at the end.
UNMATCHED = rf"{MISMATCH}|deadlock: all ranks wait[^$]*|came to MPI_Finalize before[^\n]*|was never received[^\n]*"
CHECK = r"cornerstone: check: [^\n]*"
LEAK = r"not freed at MPI_Finalize: [^\n]*{}[^\n]*"
# What a message about each kind of mistake contains.
KINDS = {
    "CallMatching": UNMATCHED,
    "CommunicatorMatching": UNMATCHED,
    "TagMatching": UNMATCHED,
    "RootMatching": UNMATCHED,
    "OperatorMatching": MISMATCH,
    "DatatypeMatching": rf"{MISMATCH}|{ERROR.format('MPI_ERR_TRUNCATE')}",
    "InvalidCommunicator": ERROR.format("MPI_ERR_(?:COMM|TOPOLOGY)"),
    "InvalidDatatype": ERROR.format("MPI_ERR_TYPE"),
    "InvalidRoot": ERROR.format("MPI_ERR_ROOT"),
    "InvalidTag": ERROR.format("MPI_ERR_TAG"),
    "InvalidSrcDest": ERROR.format("MPI_ERR_RANK"),
    "InvalidOperator": ERROR.format("MPI_ERR_OP"),
    "InvalidOtherArg": ERROR.format("MPI_ERR_(?:ARG|DIMS)"),
    "CommunicatorLeak": LEAK.format("communicator"),
    "GroupLeak": LEAK.format("group"),
    "OperatorLeak": LEAK.format("operation"),
    "TypeLeak": LEAK.format("datatype"),
    "RequestLeak": LEAK.format("request"),
    "MissingWait": rf"{LEAK.format('request')}|{CHECK}",
    "MissingStart": rf"{UNMATCHED}|{LEAK.format('request')}",
    "LocalConcurrency": CHECK,
    "GlobalConcurrency": CHECK,
    "MessageRace": CHECK,
}
QUIET = re.compile(r"cornerstone: no mistakes found[^\n]*")
SAYS = re.compile(r"^cornerstone: [^\n]*", re.MULTILINE)
LINE = re.compile(r"[\w-]+\.c:\d+")


def codes(source):
    """Generates the codes once. Yields the name, the file, the number of ranks and the kind of mistake of each run."""
    folder = FOLDER / "codes"
    if not folder.is_dir():
        folder.mkdir(parents=True)
        scripts = source / "scripts"
        for script in sorted(scripts.glob("*Generator.py")):
            must([sys.executable, script], cwd=folder, env={**os.environ, "PYTHONPATH": str(scripts)})
    for path in sorted(folder.glob("*.c")):
        head = path.read_text(errors="replace").partition("END_MBI_TESTS")[0]
        runs = re.findall(r"\$ *mpirun -np (\d+) [^\n]*\n[ |]*(?:ERROR: *)?(\w+)", head)
        for number, (ranks, kind) in enumerate(runs):
            yield path.stem + (f" {number}" if number else ""), path, ranks, kind


def compiled(path):
    program = FOLDER / "programs" / path.stem
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([COMPILER, "-g", "-w", path, "-o", program], check=True)
    return program


def verdict(kind, ended):
    """Returns why a code is judged wrongly, or None, and whether the message of the right kind has a source line."""
    output = QUIET.sub("", ended.output)
    says = SAYS.findall(output)
    if kind == "OK":
        return (None if ended.status == 0 and not says else f"a false alarm: {(says or [ended.reason()])[0]}"), False
    found = re.search(KINDS[kind], output)
    if found is None:
        return f"{kind} is not found: {(says or [ended.reason()])[0]}", False
    if ended.status == 0:
        return "it is found, and the status is 0", False
    return None, LINE.search(found.group()) is not None


def test(source, _ranks=None):
    tally, skips = Tally("mbi"), Skips("mbi")
    table = collections.defaultdict(collections.Counter)
    for name, path, ranks, kind in codes(source):
        if not selected(name):
            continue
        ended = run(ranks, [*OPTIONS, compiled(path)], LIMIT_S)
        failure, has_line = verdict(kind, ended)
        table[kind].update(all=1, right=failure is None, line=has_line)
        # A code that is skipped counts in the table: its label is doubtful, and others count it.
        reason = skips.reason(name) if failure else None
        if reason:
            tally.skip(name, reason)
        else:
            tally.take(name, failure)
    print(f"{'mistake':22} {'codes':>6} {'right':>6} {'line':>6}")
    for kind, count in sorted(table.items(), key=lambda row: -row[1]["all"]):
        print(f"{kind:22} {count['all']:6} {count['right']:6} {count['line']:6}")
    tally.close()
    return tally
