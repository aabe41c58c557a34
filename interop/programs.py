"""Applications and proxies of applications, unmodified: each must say itself that its results are right."""

import os
import re
import shutil

from applications import ALL
from ground import WORK, Tally, must, run, selected

VARIABLE = "CORNERSTONE_PROGRAMS"


def replaced(word, compilers):
    """A word of a command with other compilers for ours."""
    for ours, other in (compilers or {}).items():
        word = word.replace(ours, other)
    return word


def built(program, source, name="programs", compilers=None):
    """The folder of a program that has been built there, once; its sources stay as they are. `compilers` replaces ours."""
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
    """Runs a program in a folder of its own; gives how it ended, with the files that it wrote as part of its output."""
    place = folder / "results"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    ended = run(ranks, program.command(folder, ranks), folder=place, **options)
    ended.output += "".join(path.read_text(errors="replace") for path in sorted(place.glob("*.txt")))
    return ended


def verdict(program, ended):
    """Why a run counts as failed, or None."""
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
    """The programs that are in the folder of all sources, each with its own."""
    for program in ALL:
        folder = sources / program.name
        if not folder.is_dir():
            print(f"skipped: {program.name}, because {sources} has no folder of that name")
        elif selected(f"{program.name} *"):
            yield program, folder


def test(sources, ranks=None):
    tally = Tally("programs")
    for program, source in present(sources):
        folder = built(program, source)
        for count in ranks or program.ranks:
            if program.fits(count) and selected(f"{program.name} at {count} ranks"):
                tally.take(f"{program.name} at {count} ranks", verdict(program, started(program, folder, count)))
    tally.close()
    return tally
