"""The notebooks of the package, and the choice of the one that fits a study."""

import json
from importlib.resources import files

from rse_study.errors import InputError
from rse_study.frames.study_results import StudyResults
from rse_study.registry import did_you_mean

KINDS = {
    "ablations": "the rows of a table against its baseline, and beside the paper's",
    "methods": "methods compared on every measure, and what each of them costs",
    "robustness": "robustness and attacks: what words can be changed, and what that costs",
    "search": "a joint search: trials, axes, importance, what was confirmed",
    "cost": "what a study or a cluster's sweep cost: time, devices, losses",
}
"""The subject of each notebook, by the name of its file."""
PARAMETERS = "parameters"
ATTACKED = ("attack-", "AdvSTS", "AdvSICK")
"""Beginnings of the names of evaluations that attack texts."""
REPLAYED = ("/replayed", "/invariance")
"""Ends of the names of evaluations on texts that were changed before."""


def fitting_kind(study: StudyResults) -> str:
    """Return `search`, or the notebook that fits a grid best.

    `robustness` if most of its evaluations attack texts, `methods` if its rows train by different methods,
    else `ablations`.
    """
    if study.record.kind == "search":
        return "search"
    asked = study.record.evaluations
    if 2 * sum(is_about_robustness(name) for name in asked) > len(asked):
        return "robustness"
    return "methods" if study.num_methods > 1 else "ablations"


def is_about_robustness(evaluation: str) -> bool:
    """Whether an evaluation, by its name in a study, scores changed texts."""
    return evaluation.startswith(ATTACKED) or evaluation.endswith(REPLAYED)


def notebook_text(kind: str) -> str:
    """Return a notebook as it is stored; raise InputError for an unknown kind."""
    if kind not in KINDS:
        remedy = did_you_mean(kind, KINDS)
        raise InputError(f"no notebook {kind!r}", where="KIND", rule="it must be known", remedy=remedy)
    return (files("analysis.notebooks") / f"{kind}.ipynb").read_text(encoding="utf-8")


def filled_in(kind: str, study: str, store: str) -> str:
    """Return a notebook about one study; `store` is relative to the notebook's folder."""
    notebook = json.loads(notebook_text(kind))
    for cell in notebook["cells"]:
        if PARAMETERS in cell["metadata"].get("tags", ()):
            given = {"STUDY": study, "STORE": store}
            cell["source"] = [_filled(line, given) for line in cell["source"]]
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def _filled(line: str, values: dict[str, str]) -> str:
    """Replace the value in a line such as `STUDY = "quickstart"  # its name`."""
    name, is_assignment, rest = line.partition(" = ")
    if not is_assignment or name not in values:
        return line
    comment = rest[rest.index("  #") :] if "  #" in rest else "\n"
    return f"{name} = {values[name]!r}{comment}"
