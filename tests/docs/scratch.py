"""Tutorials as steps: a page edits a scratch copy of the project by its fenced blocks, then runs in that copy.

```python title="rse_study/evaluation/isotropy.py"     the block becomes that file
```python add="PATH" after="LINE"                      the block goes into a file that is there, below that line
```text add="PATH" after="LINE"                        the same, where a formatter would take it for a statement
```python                                              the block runs; all of a page run in one process
```sh                                                  its lines, of rse-study, pytest or python, run in the copy
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*cache", "*.tar.xz", "studies", "build")
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = {
    "rse-study": ["-c", "from rse_study.cli import main; main()"],
    "pytest": ["-m", "pytest", "-q", "-p", "no:cacheprovider"],
    "python": [],
}


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language, what is written behind that, and the text."""

    name: str
    language: str
    options: dict[str, str]
    text: str

    @property
    def file(self) -> str:
        """The file of the project that the block makes or edits; empty where it does neither."""
        return self.options.get("title") or self.options.get("add") or ""


def blocks_of(page: Path) -> list[Block]:
    """Every block of a page that is written, added or run."""
    blocks = []
    for number, (language, options, text) in enumerate(FENCE.findall(page.read_text(encoding="utf-8"))):
        if language in ("python", "sh") or options.strip():
            pairs = dict(option.split("=", 1) for option in shlex.split(options))
            blocks.append(Block(f"{page.name}, block {number + 1}", language, pairs, text))
    return blocks


def files_edited(page: Path) -> set[str]:
    """The files of the project that a reader of the page makes or edits by hand."""
    return {block.file for block in blocks_of(page) if block.file}


def copy_project(folder: Path) -> Path:
    """A copy of the project, to be edited."""
    return Path(shutil.copytree(ROOT, folder, ignore=LEFT_OUT))


def edit(folder: Path, blocks: list[Block]) -> None:
    """Write and add what the page says."""
    for block in blocks:
        if "title" in block.options:
            assert not (folder / block.file).exists(), f"{block.name}: {block.file} is there already"
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif "add" in block.options:
            _add(folder / block.file, block)


def _add(path: Path, block: Block) -> None:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    places = [number for number, line in enumerate(lines) if line.strip() == block.options["after"].strip()]
    assert len(places) == 1, f"{block.name}: {len(places)} lines of {path} are {block.options['after']!r}"
    lines.insert(places[0] + 1, block.text)
    path.write_text("".join(lines), encoding="utf-8")


def run(page: Path) -> None:
    """Run what is left of the page from top to bottom: Python in one namespace, commands where we are."""
    names = {"__name__": page.stem}
    for block in blocks_of(page):
        if block.file:
            continue
        if block.language == "python":
            exec(compile(block.text, block.name, "exec"), names)
        else:
            for line in block.text.splitlines():
                run_command(block.name, line)


def run_command(name: str, line: str) -> None:
    """A line of the shell: rse-study, pytest or python, which must end well; `> FILE` takes what it prints."""
    line, _, file = line.removeprefix("$ ").partition(" > ")
    program, *arguments = shlex.split(line, comments=True)
    assert program in PROGRAMS, f"{name}: {program} is not run; make it a block of another language: ```text"
    done = subprocess.run(
        [sys.executable, *PROGRAMS[program], *arguments], stdout=subprocess.PIPE if file else None, check=True
    )
    if file:
        Path(file).write_bytes(done.stdout)


def run_in_copy(page: Path, folder: Path) -> None:
    """Edit a copy of the project as the page says, and run the page in it."""
    copy_project(folder)
    edit(folder, blocks_of(page))
    command = [sys.executable, "-m", "tests.docs.scratch", str(page)]
    env = {**os.environ, "PYTHONPATH": str(folder)}
    env.pop(
        "PYTEST_XDIST_WORKER", None
    )  # else each pytest of the page would import all that a worker of ours needs
    subprocess.run(command, cwd=folder, env=env, check=True)


if __name__ == "__main__":
    run(Path(sys.argv[1]))
