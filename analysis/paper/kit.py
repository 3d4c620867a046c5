"""Texts for a paper about a study: how rows were compared, BibTeX, replay."""

from textwrap import fill
from typing import Any

import pandas as pd

from analysis.comparison import Comparison
from analysis.contents import Contents, label_of
from analysis.formats import counted
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
