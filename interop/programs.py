"""Unmodified applications and proxies of applications. Each must itself report that its results are right."""

import os
import re
import shutil

import common
import twins
from applications import ALL
from common import WORK, Tally, must, run, selected

VARIABLE = "CORNERSTONE_PROGRAMS"
# The name of the column for the simulated twin of this machine.
PREDICTED = "predicted"


def replaced(word, compilers):
    """Returns a word of a command with `compilers` instead of ours."""
    for ours, other in (compilers or {}).items():
        word = word.replace(ours, other)
    return word


def built(program, source, name="programs", compilers=None):
    """Builds a program once, in a folder that it returns. The sources are not changed. `compilers` replaces ours."""
    folder = WORK / name / program.name
    done = folder / "built"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder, ignore=shutil.ignore_patterns(".git"), symlinks=True)
        for place, command in program.build:
            command = [replaced(str(word), compilers) for word in command]
            must(command, cwd=folder / place, env={**os.environ, "MAKEFLAGS": f"-j{os.cpu_count()}"})
        done.touch()
    return folder


def started(program, folder, ranks, **options):
    """Runs a program in its own folder. Returns how it ended; its output includes the files that it wrote."""
    place = folder / "results"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    ended = run(ranks, program.command(folder, ranks), folder=place, **options)
    ended.output += "".join(path.read_text(errors="replace") for path in sorted(place.glob("*.txt")))
    return ended


def verdict(program, ended):
    """Returns why a run counts as failed, or None."""
    if ended.status != 0:
        return ended.reason()
    for words in program.bad:
        if found := re.search(words, ended.output):
            return f"it says: {found[0].strip()}"
    for words in program.good:
        if not re.search(words, ended.output):
            return f"it does not say {words!r}"
    return program.check(ended.output)


def present(sources):
    """Returns the programs whose folders are in `sources`, with these folders. The case of a name does not matter."""
    folders = {path.name.lower(): path for path in sources.iterdir() if path.is_dir()}
    for program in ALL:
        folder = folders.get(program.name.lower())
        if folder is None:
            print(f"skipped: {program.name}, because {sources} has no folder of that name")
        elif selected(f"{program.name} *"):
            yield program, folder


def launchers(ranks, machine):
    """Returns launchers for this number of ranks by fabric: the named fabric, or three."""
    if common.is_named:
        return {common.fabric: None}
    on = lambda *words: (common.LAUNCHER, "launch", "--fabric", *words)
    return {"local": on("local"), "tcp": on("tcp"), PREDICTED: on(f"sim:{machine}", *twins.sharing(ranks))}


def row(name, seconds):
    """Returns a row of the table: the time that the program measured on each fabric, and predicted over real time."""
    cell = lambda value: "failed" if value is None else f"{value:.4g}"
    real, predicted = seconds["local"], seconds[PREDICTED]
    ratio = predicted / real if real and predicted else None
    return f"| {name} | {' | '.join(cell(one) for one in (*seconds.values(), ratio))} |"


def test(sources, ranks=None):
    machine = None if common.is_named else twins.twin(common.LAUNCHER)
    tally = Tally("programs", None if common.is_named else "local, tcp and the twin of this machine")
    rows = []
    for program, source in present(sources):
        folder = built(program, source)
        for count in ranks or program.ranks:
            name = f"{program.name} at {count} ranks"
            if not program.fits(count) or not selected(name):
                continue
            seconds = {}
            for fabric, launcher in launchers(count, machine).items():
                ended = started(program, folder, count, launcher=launcher)
                why = verdict(program, ended)
                tally.take(name if common.is_named else f"{name}, {fabric}", why)
                seconds[fabric] = None if why else program.seconds(ended.output)
            rows.append((name, seconds))
    if rows and not common.is_named:
        print(
            f"real beside predicted, in seconds as each program measured itself, one run each, {os.cpu_count()} "
            f"processors:"
        )
        print(f"| program | local | tcp | {PREDICTED} | {PREDICTED} / local |\n|---|---|---|---|---|")
        print("\n".join(row(*one) for one in rows), flush=True)
    tally.close()
    return tally
