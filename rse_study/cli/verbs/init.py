"""The body of `init`: a commented study and its schema in this folder."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli.arguments.paths import require_folder
from rse_study.cli.terminal.screen import command, suggest
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole
from rse_study.study.definition.config import Study
from rse_study.study.definition.reading import build
from rse_study.study.definition.schema import json_schema
from rse_study.yaml12 import parse_yaml

TEMPLATES = files("rse_study.cli") / "first_study"
NAME = "my-study"  # in the templates
SCHEMA = Path("study.schema.json")


def write_first_study(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="The study's name.")] = "my-study",
    grid: Annotated[bool, typer.Option("--grid", help="Write a grid; default: a search.")] = False,
) -> None:
    """Write NAME.yaml, a commented study that runs on this machine.

    Also writes study.schema.json, with which editors check the file.
    """
    kind = "grid" if grid else "search"
    text = (TEMPLATES / f"{kind}.yaml").read_text(encoding="utf-8")
    _require_name(name, text)
    path = Path(f"{name}.yaml")
    require_folder(Path(), where="this folder:")
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(text.replace(NAME, name))
    except FileExistsError:
        remedy = "Choose another name, or remove it"
        raise InputError(
            "already exists", where=str(path), rule="nothing is overwritten", remedy=remedy
        ) from None
    write_whole(SCHEMA, json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
    print(f"{path}, {SCHEMA}")
    suggest(command("validate", path), command("plan", path, "--probe"), command("run", path))


def _require_name(name: str, text: str) -> None:
    try:
        build(Study, {**parse_yaml(text, where="NAME"), "name": name}, where="NAME")
    except InputError:
        rule = "lower case letters, digits, - and _, at most 64, the first one a letter or a digit"
        remedy = "For example: rse-study init step-sizes"
        raise InputError(f"{name!r} is not a valid name", where="NAME", rule=rule, remedy=remedy) from None
