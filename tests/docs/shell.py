"""Shell blocks of README and docs, run as they are pasted: `python -m tests.docs.shell` says how long each takes.

README runs in an empty folder with an empty HOME. Every other page runs in a folder of its own, beside the studies that
README's lines have left. Blocks of tutorials run with the rest of their page (test_tutorials.py).
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?:^    .*\n)(?:(?:[ ]*\n)*^    .*\n)*", re.MULTILINE)
PROGRAMS = ("rse-study", "make", "pip", "python", "python3", "jupyter", "sbatch", "kubectl", "export", ".")

INSTALLS = "installs packages"
HUB = "downloads from the hub"
PAPER = "trains at a paper's scale, on GPUs for hours"
NOT_RUN = {
    "make study": INSTALLS,
    "make test": "runs these tests",
    ". .venv/bin/activate": "the environment that runs the tests is active already",
    "python3 -m venv .venv": INSTALLS,
    "pip install 'rse-study[notebooks]'": INSTALLS,
    "jupyter lab": "a server that runs until somebody stops it",
    "rse-study data fetch": HUB,
    "rse-study run rse_table6_mini": "takes hours, and sentences that cannot be downloaded",
    "rse-study check rse_table6_mini": "takes the line above",
    **{
        f"rse-study cluster {verb} local": "takes Ray's one port, which other tests use; tests/cluster does the same"
        for verb in ("submit", "logs -f", "status", "down")
    },
    "rse-study plan rse_table6 --probe": PAPER,
    "rse-study run rse_table6": PAPER,
    "rse-study run dcl_table1": PAPER,
    "sbatch": "takes Slurm",
    "kubectl": "takes a Kubernetes cluster",
    "export": "holds for its own shell alone",
}
"""Beginnings of lines that no test runs, and why; those of rse-study are parsed by the command line"""
CODES = {
    "rse-study check quickstart": 3,  # it has no claim of a paper
    "rse-study validate rse_table1": 2,  # it says what is still missing
    "rse-study validate rse_table6": 2,
}
"""Exit codes other than 0 of lines that run"""
SHORTER = {
    "amount: 40": "amount: 4",
    "amount: 60": "amount: 6",
    "every: 15": "every: 3",
    "every: 20": "every: 2",
    "first: 15": "first: 3",
    "{int: [1, 16]": "{int: [1, 5]",
    "num_startup: 6": "num_startup: 2",
    "num_trials: 16": "num_trials: 4",
    "rho: [0, 0.5, 1]": "rho: [0, 1]",
    "seeds: [0, 1, 2]": "seeds: [0]",
    "seeds: [1, 2, 3]": "seeds: [1]",
    "seeds: [0, 1, 2, 3, 4, 5, 6, 7]": "seeds: [0, 1, 2]",  # as few as `compare` takes
}
"""Settings of the quickstart and of the studies that `init` writes, cut to few cells that take a second"""


@dataclass(frozen=True)
class ShellBlock:
    """Commands that a page shows together."""

    page: str
    number: int
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.page}, block {self.number}"


def shell_blocks(page: Path) -> list[ShellBlock]:
    """The indented blocks of commands of a page; of a block with prompts the lines behind `$`."""
    blocks = list[ShellBlock]()
    for block in INDENTED.findall(FENCED.sub("", page.read_text(encoding="utf-8") + "\n")):
        text = re.sub(r"\\\n\s*", "", block)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if lines[0].startswith("$ "):
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        if lines[0].split()[0] in PROGRAMS:
            blocks.append(ShellBlock(page.name, len(blocks) + 1, tuple(lines)))
    return blocks


def command_of(line: str) -> str:
    """A line without its comment."""
    return shlex.join(shlex.split(line, comments=True)) if line.startswith("rse-study") else line


def reason_against(line: str) -> str:
    """Why a line is not run; empty if it is."""
    words = line.split()
    return next((why for start, why in NOT_RUN.items() if words[: len(start.split())] == start.split()), "")


def run_block(block: ShellBlock, folder: Path, home: Path) -> float:
    """Run a block's lines in a folder, and return the seconds; AssertionError with the output of one that fails."""
    began, bin_folder = time.monotonic(), home.parent / "bin"
    bin_folder.mkdir(exist_ok=True)
    program = bin_folder / "rse-study"
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from rse_study.cli import main; main()" "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    left_out = ("RSE_STUDY_DATA", "RSE_STUDY_CACHE", "HF_HOME")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    env |= {"HOME": str(home), "PATH": f"{bin_folder}:{env['PATH']}", "PYTHONPATH": f"{home.parent}:{ROOT}"}
    for line in block.lines:
        if reason_against(line):
            continue
        ended = subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            env=env,
            input="y\n",
            capture_output=True,
            text=True,
            check=False,
        )
        wanted = CODES.get(command_of(line), 0)
        said = f"{ended.stdout[-3000:]}{ended.stderr[-3000:]}"
        assert ended.returncode == wanted, f"{block.name}: {line} ended with {ended.returncode}:\n{said}"
        if line.startswith("rse-study init "):
            _shorten(folder / f"{line.split()[2]}.yaml")
    return time.monotonic() - began


def _shorten(study: Path) -> None:
    text = study.read_text(encoding="utf-8")
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    study.write_text(text, encoding="utf-8")


def run_pages(folder: Path, pages: Sequence[Path] = PAGES) -> Iterator[tuple[ShellBlock, float]]:
    """Run the blocks of pages, README first, and yield each with its seconds."""
    home = folder / "home"
    home.mkdir()
    shutil.copytree(ROOT / "search_spaces", folder / "search_spaces")  # found before the project's own
    _shorten(folder / "search_spaces" / "quickstart.yaml")
    for page in pages:
        place = folder / page.stem
        place.mkdir()
        if page != PAGES[0] and shell_blocks(page):
            shutil.copytree(folder / PAGES[0].stem / "studies", place / "studies")
        for block in shell_blocks(page):
            yield block, run_block(block, place, home)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for ran, seconds in run_pages(Path(scratch)):
            print(f"{ran.name}: {len(ran.lines)} lines, {seconds:.0f} s", flush=True)
