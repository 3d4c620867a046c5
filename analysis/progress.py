"""The progress of a study's stages, and the results of its confirmation."""

from dataclasses import replace

import pandas as pd

from analysis.answer import StageProgress
from analysis.contents import BASE, Contents, label_of
from analysis.front import labels
from analysis.scores import differences, is_higher_better, measures_of, scores
from analysis.search import confirmed
from analysis.search_answer import ConfirmedTrial
from rse_study.results.comparing.comparisons import MIN_SEEDS
from rse_study.results.comparing.criterion import criterion_of
from rse_study.results.comparing.margin import margin_of
from rse_study.results.comparing.outcomes import with_outcomes
from rse_study.results.records import FINISHED, Stage


def stage_progress(contents: Contents, stage: Stage) -> StageProgress:
    """Return the progress of a stage: grid, search, confirm or path."""
    cells, most = contents.stage(stage), contents.search.most_cells.get(stage, 0)
    return StageProgress(int(cells["status"].isin(FINISHED).sum()), max(most, len(cells)))


def confirmed_trial(contents: Contents) -> ConfirmedTrial | None:
    """Return what confirmation found about the best trial; None without a score."""
    cells = confirmed(contents)
    if cells.empty:
        return None
    frame = scores(contents, cells)
    return _confirmed_on(contents, frame, frame["measure"].iloc[0])


def confirmed_objectives(contents: Contents) -> tuple[list[ConfirmedTrial], list[ConfirmedTrial]]:
    """Return what confirmation found on each objective, and on each other evaluation."""
    cells, objectives = confirmed(contents), labels(contents)
    if cells.empty:
        return [], []
    frame = scores(contents, cells)
    first = _confirmed_on(contents, frame, objectives[0])
    if first is None:
        return [], []
    of_trial = frame[frame["row"].isin([first.row, BASE])]
    found = {
        measure: _confirmed_on(contents, of_trial, measure) or replace(first, measure=measure, sample=())
        for measure in dict.fromkeys(frame["measure"])
    }
    alike = [replace(one, num_together=first.num_together) for one in found.values()]
    return (
        [one for one in alike if one.measure in objectives],
        [one for one in alike if one.measure not in objectives],
    )


def _confirmed_on(contents: Contents, frame: pd.DataFrame, measure: str) -> ConfirmedTrial | None:
    part = frame[frame["measure"] == measure].dropna(subset="seed")
    known = part.dropna(subset="value")
    rows = list(dict.fromkeys(known.loc[known["kind"] == "row", "row"]))
    if not rows:
        return None
    has_base = (known["kind"] == "base").any()
    paired = {row: differences(known, row, BASE)["difference"] for row in rows} if has_base else {}
    own = known.loc[known["row"] == rows[0], "value"]
    sample = tuple(float(value) for value in (paired[rows[0]] if has_base else own))
    if not sample:
        return None
    study, rule = contents.study, criterion_of(contents.study, contents.revisions, contents.cells)
    # A confidence sequence must not become narrower or wider as others get their seeds.
    decided = contents.search.rows
    num_planned = decided.num_rows - 1 if decided else frame.loc[frame["kind"] == "row", "row"].nunique()
    num_known = sum(len(one) >= MIN_SEEDS for one in paired.values())
    metrics = measures_of(study, contents.label) | {label_of(one): one.metric for one in study.all_objectives}
    rule = with_outcomes(replace(rule, margin=margin_of(study, metrics.get(measure, measure))), part, BASE)
    here = rule.on((rows[0], BASE))
    return ConfirmedTrial(
        row=rows[0],
        reference=f"the {BASE}" if has_base else "",
        measure=measure,
        sample=sample,
        num_together=max(1, num_planned if here.is_anytime else num_known),
        less_is_better=not is_higher_better(contents, measure),
        decimals=contents.decimals_by_measure[measure],
        criterion=here,
    )
