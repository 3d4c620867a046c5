"""Files for a paper about a study: texts, LaTeX tables, and figures as images."""

import json
import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio

from analysis.comparison import Comparison
from analysis.contents import Contents, label_of
from analysis.figures.style import white_template
from analysis.formats import DEGENERATE, MINUS, PLUS_MINUS, STAR, counted
from analysis.page import unpacked
from rse_study.errors import InputError, first_line
from rse_study.results.comparing.criterion import criterion_of

SEEDS_ONLY = "intervals reflect variation over training seeds only, not over checkpoints or test items."
EXPLAINED = (
    "`report` shows every number again, except those of single attacked inputs, whose texts are not in the archive. "
    "`replay` retrains one cell (here trial {}) and compares all its numbers: bit by bit on the same kind of "
    "machine, otherwise to 1e-6. The archive has the weights of an encoder or generator that the study trained, if "
    "the author still had them; otherwise they are retrained, and `replay` says so if they differ. `data fetch` "
    "needs a connection, and says sizes first."
)


def how_compared(contents: Contents, comparison: Comparison | None) -> str:
    """Return a paragraph on how rows were compared, to paste into a paper."""
    told = _how_rows_compared(contents, comparison)
    num = len(comparison.planned.compared) if comparison else 0
    family = f"Planned contrasts ({num}) are a family apart: their intervals hold for all of them at once."
    return f"{told} {family}" if num else told


def _how_rows_compared(contents: Contents, comparison: Comparison | None) -> str:
    measure = label_of(contents.study.objective)
    if comparison is None:
        return _how_confirmed(contents, measure)
    counts = comparison.scores.table.notna().sum(axis=1)
    seeds = counted(int(counts.max()), "training seed") if len(counts) else "no training seed"
    if len(counts) and counts.min() < counts.max():
        seeds = f"{counts.min()} to {seeds}"
    if not comparison.baseline:
        return f"We report the mean and standard deviation of {measure} over {seeds}. No baseline was named."
    compared = [one for one in comparison.compared.values() if one is not None]
    if not compared:
        return f"Configurations were trained with {seeds}, too few for intervals."
    rule, every = comparison.scores.criterion, counted(len(compared), "row")
    exact = all(one.p_exact == one.p_exact for one in compared) and not rule.is_anytime
    assumed = f" {rule.assumption}" if rule.assumption else ""
    tested = " P-values are those of the exact sign-flip test, adjusted by Holm's method." if exact else ""
    return (
        f"Configurations were trained with {seeds} each and compared with {comparison.baseline} by {measure}, paired "
        f"by seed. {rule.sentence(len(compared))} The intervals hold simultaneously for {every} (Bonferroni)."
        f"{assumed}{tested} Unless said otherwise, the {SEEDS_ONLY}"
    )


def _how_confirmed(contents: Contents, measure: str) -> str:
    study, plan = contents.study, contents.study.confirm_settings
    best = counted(plan.num_best, "best trial") if plan.num_best > 1 else "best trial"
    if study.tuned:
        best = f"best trial of each of the {len(study.tuned)} values of {study.settings.tune_each}"
    beside = " and the base setting" if plan.baseline == "base" else ""
    bounds = plan.until_decided
    seeds = f"{bounds.range_text} fresh seeds" if bounds else counted(len(plan.seeds), "fresh seed")
    return (
        f"We searched {counted(len(study.axes), 'hyperparameter')} with {counted(study.num_trials, 'trial')}, selected "
        f"by {measure}. The {best}{beside} were trained again with {seeds}, not used in the search; we report means "
        "and, seed by seed, differences from the base. "
        f"{criterion_of(study, contents.revisions, contents.cells).sentence()} The {SEEDS_ONLY}"
    )


def bibtex(contents: Contents, citation: str) -> str:
    """Return a BibTeX entry that cites the study and its software."""
    study = contents.study
    year = str(contents.revisions["at"].iloc[-1])[:4]
    title = (study.title or study.name).replace("{", "").replace("}", "")
    note = citation.replace("_", r"\_").replace("'", "")
    fields = {"title": f"{{{title}}}: a study run with rse\\_study", "year": year, "note": note}
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{study.name},\n{body}\n}}\n"


def how_to_replay(contents: Contents, citation: str, archive: str) -> str:
    """Return the commands with which a stranger reads and replays the archive."""
    name = contents.study.name
    complete = contents.current[contents.current["status"] == "complete"]
    packages = _packages(contents, complete).items()
    pins = " ".join(
        f"'{one}=={version.partition('+')[0]}'" for one, version in packages if one != "rse-study"
    )
    numbered = complete[complete["trial"] >= 0]
    cell = f"{numbered['trial'].iloc[0]}/{numbered['seed'].iloc[0]}" if len(numbered) else "TRIAL/SEED"
    install = f"    pip install {pins}\n" if pins else ""
    return (
        f"# Replay {name}\n\n"
        "In an environment with rse_study, from the folder of this file (`pip` installs the versions of the runs):\n\n"
        f"{install}"
        f"    rse-study report {archive}\n"
        f"    rse-study data fetch --for studies/{name}/{name}.yaml\n"
        f"    rse-study replay {name} {cell}\n\n"
        f"{fill(EXPLAINED.format(cell.replace('/', ', seed ')), 110)}\n\n{citation}\n"
    )


def _packages(contents: Contents, complete: pd.DataFrame) -> dict[str, Any]:
    """Return the packages of the newest run, or else of a complete cell."""
    runs = [*contents.provenance[-1:], *complete["provenance"]]
    return next((where["packages"] for where in runs if where.get("packages")), {})


SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a line it would belong to the \\ of the line before
    MINUS: "$-$",
    PLUS_MINUS: r"$\pm$",
    STAR: "$^{*}$",
    DEGENERATE: r"\dag{}",
}
GREEK = "alpha|beta|rho|phi|tau|xi|sigma|epsilon|eta|lambda|gamma|omega|delta"
ALONE = re.compile(rf"(?P<name>{GREEK}|N)(?P<index>\d*)(?P<value>)")
WITH_VALUE = re.compile(
    rf"(?<![\w.])(?P<name>{GREEK}|N)(?P<index>\d*) = (?P<value>-?[\d.]+(?:e[-+]?\d+)?)(?![\w/.])"
)
PREAMBLE = r"needs \usepackage{booktabs}"


def latex(table: pd.DataFrame, caption: str, comment: Iterable[str] = (), label: str = "") -> str:
    """Return a booktabs table: the first column left, all others right.

    `comment` lines are not printed; `label` has no `tab:`.
    """
    lines = [_line(row) for row in table.itertuples(index=False)]
    named = [rf"\label{{tab:{label}}}"] if label else []
    return "\n".join(
        [
            *(f"% {line}" for line in (*comment, *([PREAMBLE] if comment else ()))),
            r"\begin{table}",
            rf"\caption{{{escaped(caption)}}}",
            *named,
            rf"\begin{{tabular}}{{l{'r' * (table.shape[1] - 1)}}}",
            r"\toprule",
            _line(table.columns),
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def escaped(text: object) -> str:
    r"""Return text as LaTeX prints it, with symbols and their values as formulas.

    >>> print(escaped("rho = 0.5, norm = l1"), escaped("lambda1"))
    $\rho = 0.5$, norm = l1 $\lambda_{1}$
    """
    whole = str(text)
    alone = ALONE.fullmatch(whole)
    if alone:
        return _formula(alone)
    parts, end = list[str](), 0
    for found in WITH_VALUE.finditer(whole):
        parts += [_plain(whole[end : found.start()]), _formula(found)]
        end = found.end()
    return "".join([*parts, _plain(whole[end:])])


def _plain(text: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def _formula(found: re.Match[str]) -> str:
    name, index, value = found["name"], found["index"], found["value"]
    symbol = ("" if name == "N" else "\\") + name + (f"_{{{index}}}" if index else "")
    if not value:
        return f"${symbol}$"
    number, _, exponent = value.partition("e")
    times = rf" \times 10^{{{int(exponent)}}}" if exponent else ""
    return f"${symbol} = {number}{times}$"


def _line(cells: Iterable[object]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


ImageKind = Literal["png", "svg"]
WIDTH, DEFAULT_HEIGHT = 900, 450  # pixels
SCALE = 2  # of a PNG: sharp in print
DRAWING = re.compile(
    r'<figure class="figure" id="figure-(?P<name>[^"]+)">.*?'
    r'<script type="application/json" class="drawing">(?P<json>.*?)</script>',
    re.DOTALL,
)  # as `page.figure` writes it


def figures_in(html: str) -> dict[str, go.Figure]:
    """Return the figures of a page by name, on a white background."""
    return {
        found["name"]: go.Figure(json.loads(found["json"])).update_layout(template=white_template())
        for found in DRAWING.finditer(unpacked(html))
    }


def write_figures(html: str, folder: Path, kind: ImageKind) -> list[Path]:
    """Write a page's figures into a folder; raise InputError without a browser."""
    if find_spec("kaleido") is None:
        remedy = "Install it: pip install 'rse-study[images]'"
        raise InputError("kaleido is not installed", where="--figures", rule="it draws them", remedy=remedy)
    figures = figures_in(html)
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for name in figures]
    heights = [figure.layout.height or DEFAULT_HEIGHT for figure in figures.values()]
    scale = SCALE if kind == "png" else 1
    if figures:
        _draw(list(figures.values()), paths, heights, scale)
    _require_drawn(paths)
    return paths


def _draw(figures: list[go.Figure], paths: list[Path], heights: list[int], scale: int) -> None:
    try:
        pio.write_images(fig=figures, file=paths, width=WIDTH, height=heights, scale=scale)
    except RuntimeError as error:  # no browser, or one that does not start
        rule = "a browser draws figures: chromium or chrome"
        remedy = "Install one, or name it in BROWSER_PATH"
        raise InputError(
            f"no figure was drawn: {first_line(error)}", where="--figures", rule=rule, remedy=remedy
        ) from None


def _require_drawn(paths: list[Path]) -> None:
    """Raise InputError for empty or missing files; kaleido does not report them."""
    lacking = [path for path in paths if not path.is_file() or not path.stat().st_size]
    for path in lacking:
        path.unlink(missing_ok=True)
    if lacking:
        names = ", ".join(path.name for path in lacking)
        rule, remedy = "the browser did not draw them", "Try again when the machine is less busy"
        raise InputError(f"not drawn: {names}", where="--figures", rule=rule, remedy=remedy)
