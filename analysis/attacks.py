"""The page of a folder of attacks: their figures, and every input to browse."""

from pathlib import Path

from analysis import page
from analysis.sections.attacked import comparison, opening
from analysis.sections.inputs import STYLE, inputs
from rse_study.results.files.attack_file import AttackFolder, read_attacks


def write_attacks(folder: Path, out: Path | None = None) -> Path:
    """Write the folder's page, by default `attacks.html` in it; return its path."""
    path = folder / "attacks.html" if out is None else out
    return page.write(path, render(read_attacks(folder)))


def render(attacks: AttackFolder) -> str:
    """Return the page as HTML, which depends on the folder alone."""
    return page.page("Under attack", [opening(attacks), comparison(attacks), inputs(attacks.outcomes)], STYLE)
