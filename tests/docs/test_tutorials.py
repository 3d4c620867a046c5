"""Tutorials run as they are read: a page that edits the project does so in a copy of it (scratch.py)."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.findings import require_none
from tests.architecture.test_docstrings import (
    entry_problems,
    first_line_problems,
    members,
    opening_problems,
)
from tests.docs.scratch import (
    ROOT,
    Block,
    blocks_of,
    copy_project,
    edit,
    files_edited,
    run,
    run_command,
    run_in_copy,
)
from tests.slow import mostly_slow

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))
NUM_FILES = {
    "add_a_method": 3, "add_a_perturbation": 3, "add_an_evaluation": 3, "add_an_attack": 2, "add_a_stopping_rule": 4,
}  # fmt: skip
"""How many files are made or edited by hand, tests included; CONTRIBUTING.md says the same."""


ALONE = [page for page in TUTORIALS if page.stem not in NUM_FILES]
"""Pages that edit no copy of the project, and run in seconds."""


@pytest.mark.parametrize("page", mostly_slow(TUTORIALS, fast=ALONE), ids=lambda page: page.stem)
def test_every_block_runs(page, tmp_path):
    assert any(not block.file for block in blocks_of(page))
    if files_edited(page):
        run_in_copy(page, tmp_path / "copy")
    else:
        run(page)


@pytest.mark.slow
def test_a_method_with_the_perturbation_of_a_page_passes_the_type_checker(tmp_path):
    (page,) = (page for page in TUTORIALS if page.stem == "add_a_perturbation")
    copy_project(tmp_path / "copy")
    edit(tmp_path / "copy", blocks_of(page))
    unfiled = [block.text for block in blocks_of(page) if not block.file and block.language == "python"]
    (tmp_path / "copy" / "rse_study" / "page.py").write_text("\n".join(unfiled), encoding="utf-8")
    if (known := ROOT / ".mypy_cache").is_dir():  # after `make types`: a minute and a half less
        shutil.copytree(known, tmp_path / "copy" / known.name)
    command = [sys.executable, "-m", "mypy", "-p", "rse_study.page"]
    checked = subprocess.run(command, cwd=tmp_path / "copy", capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(("name", "number"), NUM_FILES.items())
def test_an_addition_takes_as_many_files_as_promised(name, number):
    (page,) = (page for page in TUTORIALS if page.stem == name)
    assert len(files_edited(page)) == number


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_what_a_page_adds_has_docstrings_as_contributing_asks(page):
    """Who copies a page must not be refused by tests/architecture/test_docstrings.py."""
    require_none(
        f"{block.name}: {problem}"
        for block in blocks_of(page)
        if block.options.get("title", "").startswith(("rse_study/", "analysis/"))
        for problem in docstring_problems(ast.parse(block.text))
    )


def docstring_problems(tree):
    """What is wrong with a module's docstrings, by name."""
    yield from first_line_problems(ast.get_docstring(tree))
    for _, name, node in members(tree):
        docstring = ast.get_docstring(node)
        problems = [
            *first_line_problems(docstring),
            *entry_problems(docstring),
            *opening_problems(docstring),
        ]
        yield from (f"{name}: {problem}" for problem in problems)


def test_a_page_is_read_as_blocks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        '```python title="a.py"\nx = 1\n```\n\n```text\nnothing\n```\n\n```text add="c.py" after="x"\n    X,\n```\n\n'
        '```python add="b.py" after=\'y = "é"\'\nz = 3\n```\n\n```sh\nrse-study --version\n```\n',
        encoding="utf-8",
    )
    wrote, line, added, command = blocks_of(page)
    assert [one.file for one in (wrote, line, added, command)] == ["a.py", "c.py", "b.py", ""]
    assert added.options["after"] == 'y = "é"'
    assert (wrote.text, command.text) == ("x = 1\n", "rse-study --version\n")
    assert files_edited(page) == {"a.py", "b.py", "c.py"}


def block(**options):
    return Block("page.md, block 1", "python", options, "    new,\n")


def test_a_block_is_added_below_the_one_line_named_and_overwrites_nothing(tmp_path):
    (tmp_path / "b.py").write_text("x = (\n    old,\n    last,\n)\n", encoding="utf-8")
    edit(tmp_path, [block(add="b.py", after="old,")])
    assert (tmp_path / "b.py").read_text(encoding="utf-8") == "x = (\n    old,\n    new,\n    last,\n)\n"
    (tmp_path / "b.py").write_text("old\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="is there already"):
        edit(tmp_path, [block(title="b.py")])
    with pytest.raises(AssertionError, match="make is not run"):
        run_command("page.md, block 1", "make setup")


@pytest.mark.parametrize("after", ["nowhere", "twice"])
def test_a_page_that_names_no_single_line_fails(tmp_path, after):
    (tmp_path / "b.py").write_text("twice\ntwice\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="lines of"):
        edit(tmp_path, [block(add="b.py", after=after)])
