"""Pages for readers name commands and options that are there, and studies that are valid."""

import re
import shlex
from pathlib import Path

import typer

from rse_study.cli.app import app
from rse_study.cli.arguments import study_file
from rse_study.study.checking.validation import read_study
from rse_study.yaml12 import read_yaml
from tests.cases import cases

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("command_line", "clusters")),
]
COMMAND = re.compile(r"(?:^    (?:\$ )?|`)(rse-study [^`\n]+)", re.MULTILINE)
SLOTS = {"HOST:PORT": "h:1", "list\\|verify\\|fetch": "list", "[": "", "]": ""}


def commands(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [found.partition(" #")[0].strip() for found in COMMAND.findall(text)]


@cases("line", sorted({line for page in PAGES for line in commands(page)}))
def test_a_command_is_one_with_its_options(line):
    for slot, filling in SLOTS.items():
        line = line.replace(slot, filling)
    words = shlex.split(line)[1:]
    command = typer.main.get_command(app)
    while (members := getattr(command, "commands", None)) and not words[0].startswith("-"):
        assert words[0] in members
        command = members[words.pop(0)]
    options = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    assert {word for word in words if word.startswith("-")} <= options | {"--help"}


def test_every_command_is_on_the_page():
    words = {line.split()[1] for line in commands(ROOT / "docs" / "command_line.md")}
    shown = {word for word in words if not word.startswith("-")}
    expected = {name for name, one in typer.main.get_command(app).commands.items() if not one.hidden}
    assert shown == expected, "each command has a line in docs/command_line.md"


def test_readmes_first_block_is_a_study(tmp_path):
    (block,) = re.findall(r"^```yaml\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    file = tmp_path / "study.yaml"
    file.write_text(block, encoding="utf-8")
    checked = read_study(file)
    assert f"rse-study run {checked.study.name} " in README
    assert checked.study.grid.baseline in {row.label for row in checked.rows}
    assert read_yaml(file) == read_yaml(study_file("quickstart"))
