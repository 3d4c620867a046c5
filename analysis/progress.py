"""How far the stages of a study are, and what its confirmation found."""

from analysis.answer import ConfirmedTrial, StageProgress
from analysis.contents import PAPER_SETTING, Contents
from analysis.scores import differences, scores
from analysis.search import confirm_plan, confirmed, num_confirmed
from rse_study.results.records import FINISHED


def stage_progress(contents: Contents, stage: str) -> StageProgress:
    """Return how far a stage is: grid, search, confirm or path."""
    study, cells = contents.study, contents.stage(stage)
    planned = {
        "grid": study.num_cells,
        "search": contents.race.most_cells if contents.race else study.num_trials,
        "confirm": num_confirmed(confirm_plan(study)),
        "path": contents.num_path_cells,
    }
    return StageProgress(int(cells["status"].isin(FINISHED).sum()), max(planned[stage], len(cells)))


def confirmed_trial(contents: Contents) -> ConfirmedTrial | None:
    """Return what confirmation found about the best trial; None without a score."""
    cells = confirmed(contents)
    if cells.empty:
        return None
    frame = scores(contents, cells)
    measure = frame["measure"].iloc[0]
    known = frame[(frame["measure"] == measure) & frame["value"].notna()]
    rows = list(dict.fromkeys(known.loc[known["kind"] == "row", "row"]))
    if not rows:
        return None
    has_base = (known["kind"] == "base").any()
    paired = {row: differences(known, row, PAPER_SETTING)["difference"] for row in rows} if has_base else {}
    own = known.loc[known["row"] == rows[0], "value"]
    sample = tuple(float(value) for value in (paired[rows[0]] if has_base else own))
    if not sample:
        return None
    metric = {one.name: one.metric for one in contents.study.shown_measures}.get(measure, "")
    return ConfirmedTrial(
        row=rows[0],
        reference=f"the {PAPER_SETTING}" if has_base else "",
        measure=measure,
        sample=sample,
        num_together=max(1, sum(len(one) >= 3 for one in paired.values())),
        less_is_better=contents.study.is_less_better(metric),
        decimals=contents.decimals_by_measure[measure],
    )
