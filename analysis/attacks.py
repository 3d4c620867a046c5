"""The page of a folder of attacks: figures of each, and every input to browse."""

from pathlib import Path

from analysis import page
from analysis.sections.attacked import comparison, opening
from analysis.sections.inputs import STYLE, inputs
from rse_study.results.attack_file import AttackFolder, read_attacks


def write_attacks(folder: Path, out: Path | None = None) -> Path:
    """Write the folder's page and say where it is; by default `attacks.html` in it.

    Raises
    ------
    InputError
        where the folder's files are missing or damaged.
    """
    path = folder / "attacks.html" if out is None else out
    return page.write(path, render(read_attacks(folder)))


def render(attacks: AttackFolder) -> str:
    """The page as HTML: a function of the folder and nothing else."""
    return page.page("Under attack", [opening(attacks), comparison(attacks), inputs(attacks.outcomes)], STYLE)
