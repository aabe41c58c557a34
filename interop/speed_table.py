"""The aims for the speed of our MPI library, and whether the measured cells meet them."""

import math

COLLECTIVES = ("barrier", "bcast", "allgather", "alltoall", "allreduce", "reduce", "gather", "scatter")
# One-sided programs, by name and synchronisation. They are measured only on request.
ONE_SIDED_TIMES = ("put_latency", "get_latency", "acc_latency", "fop_latency", "cas_latency")
ONE_SIDED = [f"{program}-{how}" for how in ("flush", "fence") for program in ONE_SIDED_TIMES + ("put_bw", "get_bw")]
ONE_SIDED += ["put_bibw-fence"]
ONE_SIDED_ROWS = [(name, 2) for name in ONE_SIDED]
RATES = ("bw", "bibw", "mbw_mr") + tuple(name for name in ONE_SIDED if "bw-" in name)
ROWS = [(name, 2) for name in ("latency", "bw", "bibw", "mbw_mr")]
ROWS += [(name, ranks) for ranks in (2, 4, 8) for name in COLLECTIVES]
# Non-blocking collectives, measured only on request. The number is the overall time of a collective and of computing
# that takes as long as the collective.
NON_BLOCKING = tuple("i" + name for name in COLLECTIVES)
NON_BLOCKING_ROWS = [(name, ranks) for ranks in (2, 4, 8) for name in NON_BLOCKING]
# Persistent collectives, measured only on request.
PERSISTENT = tuple(name + "_persistent" for name in COLLECTIVES)
PERSISTENT_ROWS = [(name, ranks) for ranks in (2, 4, 8) for name in PERSISTENT]
EVERY_ROW = ROWS + NON_BLOCKING_ROWS + PERSISTENT_ROWS + ONE_SIDED_ROWS
# Collectives are judged from this size on. The shorter sizes before are a warm-up.
SHORTEST_COLLECTIVE_BYTES = 4
# The columns of the short table, with the largest size of each.
COLUMNS = (
    ("1-64 B", 64),
    ("128 B-1 KiB", 1 << 10),
    ("2-16 KiB", 16 << 10),
    ("32-256 KiB", 256 << 10),
    ("512 KiB-4 MiB", 4 << 20),
)


def goal(name, ranks, size):
    """Returns the aim: the ratio to the best other library that ours must meet."""
    if name == "latency":
        return 0.65 if size <= 64 else 0.95
    if name == "mbw_mr":
        return 1.5
    if name in ONE_SIDED:
        return 0.95 if name in RATES else 1.0
    if name in RATES:
        return 1.5 if size < 1024 else 1.05
    if name in NON_BLOCKING + PERSISTENT:
        return 1.1
    return 0.95 if ranks == 2 else 0.8


def network_goal(name):
    """Returns the same for messages over TCP."""
    return 0.95 if name in RATES else 1.05 if name == "latency" else 0.8


def mean_goal(name):
    """Returns the same for the geometric mean of all sizes of a one-sided program, or of a program over TCP."""
    if name == "latency":
        return 0.95
    if name in ("bw", "bibw", "mbw_mr"):
        return 1.05
    return 1.1 if name in RATES else 0.8


class Cell:
    """One size of one program: our median, those of the other libraries, and the ratio to the best of them."""

    def __init__(self, name, ranks, size, ours, others, wanted):
        self.name, self.ranks, self.size, self.ours, self.others = name, ranks, size, ours, others
        self.best = max(others.values()) if name in RATES else min(others.values())
        self.ratio, self.wanted = ours / self.best, wanted

    def misses(self):
        return self.ratio < self.wanted if self.name in RATES else self.ratio > self.wanted

    def __str__(self):
        what = self.name if "barrier" in self.name else f"{self.name} of {self.size} bytes"
        return f"{what} at {self.ranks} ranks: {self.ratio:.2f}, wanted {self.wanted}"


def cells(name, ranks, medians, tcp=False):
    """Returns the cells of a row from `medians`, which are by library and size. `tcp`: messages use TCP."""
    shortest = 0 if "barrier" in name else SHORTEST_COLLECTIVE_BYTES if name in COLLECTIVES else 1
    for size, ours in medians["ours"].items():
        others = {peer: of[size] for peer, of in medians.items() if peer != "ours" and size in of}
        if size >= shortest and others:
            wanted = network_goal(name) if tcp else goal(name, ranks, size)
            yield Cell(name, ranks, size, ours, others, wanted)


def heading(libraries):
    return (
        f"{'program':17}{'n':>3}{'bytes':>9}"
        + "".join(f"{one:>12}" for one in libraries)
        + f"{'ratio':>8}{'wanted':>7}"
    )


def line(cell, libraries):
    """Returns a cell as a row of plain text."""
    numbers = {"ours": cell.ours, **cell.others}
    measured = "".join(f"{numbers.get(one, float('nan')):12.2f}" for one in libraries)
    verdict = "misses" if cell.misses() else ""
    return f"{cell.name:17}{cell.ranks:3}{cell.size:9}{measured}{cell.ratio:8.2f}{cell.wanted:7.2f}  {verdict}".rstrip()


def span(ratios):
    """Returns the smallest and the largest ratio."""
    low, high = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return low if low == high else f"{low}-{high}"


def means(all_cells, tcp=False):
    """Returns, for each one-sided program, or over TCP for each program, its name, the geometric mean of its ratios,
    and the aim for this mean."""
    for name in dict.fromkeys(name for name, _ in EVERY_ROW) if tcp else ONE_SIDED:
        logarithms = [math.log(cell.ratio) for cell in all_cells if cell.name == name]
        if logarithms:
            yield name, math.exp(sum(logarithms) / len(logarithms)), mean_goal(name)


def time_to_best(all_cells):
    """Returns the geometric mean of the cells' times relative to the best other library. Rates count as inverses."""
    logarithms = [-math.log(cell.ratio) if cell.name in RATES else math.log(cell.ratio) for cell in all_cells]
    return math.exp(sum(logarithms) / len(logarithms))


def missed_means(all_cells, tcp=False):
    for name, mean, wanted in means(all_cells, tcp):
        if mean < wanted if name in RATES else mean > wanted:
            yield f"geometric mean of {name}: {mean:.2f}, wanted {wanted}"


def markdown(all_cells):
    """Returns the short table in Markdown, with a row for each program and number of ranks, and the cells that miss."""
    rows = {}
    for cell in all_cells:
        rows.setdefault((cell.name, cell.ranks), []).append(cell)
    yield "| program | ranks | " + " | ".join(title for title, _ in COLUMNS) + " | missed cells |"
    yield "|---" * (len(COLUMNS) + 3) + "|"
    for name, ranks in sorted(rows, key=EVERY_ROW.index):
        row, above, columns = rows[name, ranks], -1, []
        for _, last in COLUMNS:
            ratios = [cell.ratio for cell in row if above < cell.size <= last]
            columns.append(span(ratios) if ratios else "")
            above = last
        missed = sum(cell.misses() for cell in row)
        yield f"| {name} | {ranks} | " + " | ".join(columns) + f" | {missed} of {len(row)} |"
    missed = [cell for cell in all_cells if cell.misses()]
    yield ""
    yield f"{len(missed)} of {len(all_cells)} cells miss."
    table = [cell for cell in all_cells if (cell.name, cell.ranks) in ROWS]
    if table:
        yield f"* geometric mean of the time relative to the best peer: {time_to_best(table):.2f} ({len(table)} cells)"
    for name, ranks in sorted({(cell.name, cell.ranks) for cell in missed}, key=EVERY_ROW.index):
        which = [f"{cell.size} ({cell.ratio:.2f})" for cell in missed if (cell.name, cell.ranks) == (name, ranks)]
        yield f"* {name}, {ranks} ranks: " + ", ".join(which)
    for name, mean, wanted in means(all_cells):
        yield f"* geometric mean of {name}: {mean:.2f}, wanted {wanted}"
