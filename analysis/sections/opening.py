"""The first screen of a report: question, answer, picture, and how it was decided."""

import pandas as pd

from analysis import page
from analysis.answer import StudyAnswer, claims_answer, grid_answer, with_effects, with_planned
from analysis.axis_pairs import apart_text, axis_pairs
from analysis.comparison import Comparison
from analysis.comparison_table import resolution_text
from analysis.contents import Contents, labels
from analysis.cost import lost_attempts, time_text
from analysis.formats import counted, join_words, show_number, show_power, show_signed
from analysis.scores import is_higher_better, result_scores, summarise
from analysis.search_answer import (
    ConfirmedTrial,
    confirmed_objectives,
    confirmed_trial,
    search_answer,
    stage_progress,
)
from analysis.sections.axes import path_answer, which_axis_text
from analysis.sections.picture import picture
from analysis.sections.results import fresh_seeds
from rse_study.results.comparing.comparisons import MIN_SEEDS
from rse_study.results.manipulation import named_rows
from rse_study.results.reader import count_cells
from rse_study.results.records import BASELINES
from rse_study.results.row_checks import inert_sentences

NOTHING = 1e-9  # the rest of equal numbers
FEW_ROWS = 3  # that are named beside the best; more are counted
FEW_INERT = 2  # rows with inert parts that are named; more are counted


def opening(contents: Contents, comparison: Comparison | None = None) -> str:
    """Return question, answer, picture, figures and facts; a grid needs `comparison`."""
    study, found = contents.study, answer(contents, comparison)
    claims, above = claims_answer(comparison), unbeaten_text(contents)
    others = f"On other measures: {found.others}." if found.others else ""
    path, start = path_answer(contents), start_text(contents, comparison)
    kind = "answer doubted" if above else "answer shown" if found.shows_difference else "answer"
    parts = [
        f"<h1>{page.escape(study.title or study.name)}</h1>",
        page.paragraph(study.question, "question"),
        page.paragraph(" ".join(filter(None, (found.text, others, path, start, claims, above))), kind),
        picture(contents, comparison),
        page.strip(strip(contents, comparison)),
        inert_line(contents),
        page.folded(
            "How this was decided",
            page.facts(facts(contents, comparison)),
            page.paragraph(caution(contents), "note") if study.kind == "search" else "",
        ),
    ]
    return "\n".join(part for part in parts if part)


def strip(contents: Contents, comparison: Comparison | None) -> dict[str, str]:
    """Return the few figures that size a study, by what they count."""
    study, is_grid = contents.study, contents.study.kind == "grid"
    cells, planned = contents.first_seeds, study.num_trials
    if is_grid:
        cells, planned = contents.stage("grid"), study.num_cells
    numbers = count_cells(cells["status"], max(planned, len(cells)))
    stopped = f", {numbers['stopped_early']} stopped early" if numbers["stopped_early"] else ""
    lost = lost_attempts(contents.attempts, contents.cells)
    seconds, _, spent = time_text(contents).partition(" of ")
    seeds = cells["seed"].nunique() if is_grid else len(study.confirm_settings.seeds)
    return {
        f"{'cells' if is_grid else 'trials'} complete{stopped}": f"{numbers['complete']} of {numbers['planned']}",
        "seeds a row" if is_grid else "fresh seeds to confirm": str(seeds or ""),
        spent: seconds,
        "failed": str(numbers["failed"]),
        "attempts lost": str(len(lost) or ""),
        "smallest difference found with 80% power": least_difference(contents, comparison),
    }


def least_difference(contents: Contents, comparison: Comparison | None) -> str:
    """Return the smallest difference that so many seeds find; "" where none is known."""
    if comparison is not None:
        known, label = [one for one in comparison.compared.values() if one], contents.label
        leading = comparison.planned if len(comparison.planned.compared) else comparison.effects
        least, is_anytime = comparison.resolvable, any(one.criterion.is_anytime for one in known)
        if len(leading.compared):  # the family that the picture shows
            least, is_anytime = float(leading.compared["resolvable"].max()), leading.is_anytime
        least = 0.0 if is_anytime else least
    else:
        found = _judged(contents)
        num_together, label = sum(one.num_together for one in found), found[0].measure if found else ""
        least = max((one.resolvable(num_together) for one in found), default=0.0)
    points = " points" * ("x100" in label)
    if not least > NOTHING:
        return ""
    shown = show_number(least, contents.decimals)
    return f"{shown if float(shown) else f'{least:.1g}'}{points}"


def inert_line(contents: Contents) -> str:
    """Name in a line the parts without effect, and their rows; unfolded, why."""
    sentences = inert_sentences(contents.checks)
    inert = {
        row.row: parts
        for row in contents.checks
        if (parts := [check.part for check, value in row.values if check.is_inert(value)])
    }
    if not sentences:
        return ""
    rows, every = [f'"{row}"' for row in inert], len(contents.checks)
    where = named_rows(rows, every) if 0 < len(rows) <= FEW_INERT else f"{len(rows)} of {every} rows"
    names = join_words(dict.fromkeys(part for parts in inert.values() for part in parts))
    line = f"Without effect in {where}: {names}."
    if len({*map(tuple, inert.values())}) > 1:
        line = f"In {where}, at least one of these parts had no effect: {names}."
    line = line if inert else sentences[0]
    more = page.link("#section-inside-a-step", "The checks of every row") if len(contents.diagnostics) else ""
    return page.folded(line, *map(page.paragraph, sentences), more, kind="note")


def answer(contents: Contents, comparison: Comparison | None = None) -> StudyAnswer:
    """Return a study's answer in one sentence; a grid needs `comparison`."""
    if contents.study.kind == "search":
        confirm = stage_progress(contents, "confirm") if contents.study.confirm_settings.seeds else None
        search, found = stage_progress(contents, "search"), confirmed_trial(contents)
        return search_answer(search, confirm, found, *confirmed_objectives(contents))
    if comparison is None:
        return StudyAnswer("No answer: its rows were not compared.")
    progress = stage_progress(contents, "grid")
    of_rows = grid_answer(comparison, progress, contents.decimals)
    of_rows = with_effects(of_rows, comparison, contents.decimals)
    return with_planned(of_rows, comparison, contents.decimals)


def facts(contents: Contents, comparison: Comparison | None) -> dict[str, str]:
    """Return the key facts as HTML, by their names."""
    aims = ["higher" if way == "maximize" else "lower" for way in contents.study.directions]
    told = join_words(f"{label} ({aim} is better)" for label, aim in zip(labels(contents), aims, strict=True))
    return {
        "objectives" if len(aims) > 1 else "objective": page.escape(told),
        "highest mean" if aims[0] == "higher" else "lowest mean": best_row(contents, comparison),
        "verdicts": page.escape(criterion_text(contents, comparison)),
        "resolution": page.escape(seeds_text(contents, comparison)),
        "which axis": page.escape(axes_text(contents, comparison)),
        "progress": page.escape(states(contents)),
        "tags": page.escape(", ".join(contents.study.settings.tags)),
        "notes": page.escape(contents.study.settings.notes),
    }


def best_row(contents: Contents, comparison: Comparison | None) -> str:
    """Return a grid's row with the best mean, and whether it is shown to be better.

    Means are compared over the seeds that all rows with a score share, if there are any.
    """
    if comparison is None or comparison.scores.table.isna().all(axis=None):
        return ""
    table = comparison.scores.table.dropna(how="all").dropna(axis="columns", how="all")
    shared, means = table.dropna(axis="columns"), table.mean(axis=1)
    num_shared, how = shared.shape[1], ""
    if num_shared < table.shape[1]:
        how = f"best over {counted(num_shared, 'seed')} that all rows share; "
        how = how if num_shared else "means over different seeds; "
    ranked = shared.mean(axis=1) if num_shared else means
    row = ranked.idxmin() if contents.study.objective.direction == "minimize" else ranked.idxmax()
    seeds = counted(int(table.loc[row].count()), "seed")
    mean = show_number(means[row], contents.decimals)
    told = f"{row}, {mean} over {seeds}, {_how_sure(str(row), comparison)}; {how}"
    return page.escape(told) + page.link("#section-results", "all rows")


def _how_sure(row: str, comparison: Comparison) -> str:
    """Say the verdict on the row, and which others are as good: the highest mean is no proof."""
    baseline, one = comparison.baseline, comparison.compared.get(row)
    verdict = one.verdict if one else "undecided"
    own = "not shown to be better"
    if baseline:
        words = {"better": "better than", "worse": "worse than", "same": "the same within the margin as"}
        own = f"{words.get(verdict, 'not shown to be better than')} {baseline}{one.criterion.so_far if one else ''}"
        own = "the baseline itself" if row == baseline else own
    mine = set(comparison.letters.get(row, ""))
    alike = [other for other, letters in comparison.letters.items() if other != row and mine & set(letters)]
    few = join_words(alike) if len(alike) <= FEW_ROWS else counted(len(alike), "row")
    return f"{own}, and cannot be told apart from {few}" if alike else own


def criterion_text(contents: Contents, comparison: Comparison | None) -> str:
    """Say what decides the verdicts, and why; "" where nothing is compared."""
    if comparison is not None:
        own, num = comparison.scores.criterion, len(comparison.planned.compared)
        text = comparison.criterion_text or (own.sentence(num, "contrast") if num else "")
        return f"{text} {own.assumption}".strip()
    found = _judged(contents)
    num_together = sum(one.num_together for one in found)
    rule = found[0].criterion if found else None
    return f"{rule.sentence(num_together, 'comparison')} {rule.assumption}".strip() if rule else ""


def _judged(contents: Contents) -> list[ConfirmedTrial]:
    """Return what a search's answer is about: its objectives, or the first measure of a single one."""
    several, first = confirmed_objectives(contents)[0], confirmed_trial(contents)
    objectives = several if len(several) > 1 else [first] if first else []
    return [one for one in objectives if one.reference and len(one.sample) >= MIN_SEEDS]


def seeds_text(contents: Contents, comparison: Comparison | None) -> str:
    """Say which difference these seeds can resolve; "" where nothing is compared."""
    if comparison is not None:
        return resolution_text(comparison)
    found = _judged(contents)
    num_together = sum(one.num_together for one in found)
    least = [one.resolvable(num_together) for one in found]
    shown = zip(found, least, strict=True)
    texts = join_words(f"{show_number(value, one.decimals)} on {one.measure}" for one, value in shown)
    seeds = counted(min((len(one.sample) for one in found), default=0), "fresh seed")
    return f"{seeds}: {show_power(max(least), f'difference of {texts}')}" if found else ""


def axes_text(contents: Contents, comparison: Comparison | None) -> str:
    """Say which axis mattered, or that nobody can say; "" without axes."""
    if comparison is not None:
        pairs = [] if comparison.effects.effects else axis_pairs(contents, comparison.scores)
        return " ".join(apart_text(one) for one in pairs)
    if len(contents.study.axes) < 2 or not contents.search.standings:
        return ""
    told = " ".join(filter(None, [path_answer(contents), which_axis_text(contents)]))
    of = f"For {contents.label}: " * (len(contents.study.all_objectives) > 1)
    return of + told if told else "Unknown: there are neither importances nor a finished ablation path."


def start_text(contents: Contents, comparison: Comparison | None) -> str:
    """Say how many rows end beyond the encoder before training, on the objective."""
    means = comparison.scores.table.mean(axis=1).dropna() if comparison else pd.Series(dtype=float)
    start = comparison.fixed.get(BASELINES["start"]) if comparison else None
    if start is None or means.empty:
        return ""
    is_less, gains = contents.study.objective.direction == "minimize", means - start
    num, beyond = int((gains < 0 if is_less else gains > 0).sum()), "below" if is_less else "above"
    which = {0: "No row ends", len(gains): f"All {len(gains)} rows end"}.get(
        num, f"{num} of {len(gains)} rows end"
    )
    low, high = (show_signed(gain, contents.decimals) for gain in (gains.min(), gains.max()))
    return f"{which} {beyond} the encoder before training ({low} to {high})."


def unbeaten_text(contents: Contents) -> str:
    """Name the strongest baseline, and the base encoder, if they beat every result."""
    frame = result_scores(contents)
    fixed = frame[(frame["kind"] == "baseline") & frame["value"].notna() & ~frame["degenerate"]]
    measure = str(fixed["measure"].iloc[0]) if len(fixed) else ""
    rows = frame[(frame["kind"] != "baseline") & (frame["measure"] == measure)]
    fixed, means = fixed[fixed["measure"] == measure], summarise(rows)["mean"].dropna()
    is_more = is_higher_better(contents, measure)
    above = fixed[fixed["value"] > means.max() if is_more else fixed["value"] < means.min()]
    decimals = contents.decimals_by_measure.get(measure, contents.decimals)
    if above.empty or means.empty:
        return ""
    scored = dict(zip(above["row"], above["value"], strict=True))
    strongest, best = (max, means.max()) if is_more else (min, means.min())
    first = strongest(scored, key=lambda row: scored[row])
    noun = "row" if contents.study.kind == "grid" else "confirmed trial"
    ours, theirs = (show_number(value, decimals) for value in (best, scored[first]))
    text = f'No {noun} beats "{first}" on {measure}: {ours} against {theirs}.'
    is_told = contents.study.kind == "grid" or first == BASELINES["start"]  # a grid says so of each row
    if start := None if is_told else scored.get(BASELINES["start"]):
        return f"{text} The best is also below the base encoder before training ({show_number(start, decimals)})."
    return text


def states(contents: Contents) -> str:
    """Return the counts of each stage's cells, in sentences."""
    study = contents.study
    if study.kind == "grid":
        cells = contents.stage("grid")
        rows, seeds = cells["trial"].nunique(), cells["seed"].nunique()
        each = "up to " * (contents.search.rows is not None)
        shape = f"Grid of {counted(rows, 'row')} x {each}{counted(seeds, 'seed')}" if rows else "Grid"
        return state(shape, cells, study.num_cells)
    parts = [state("Search", contents.first_seeds, study.num_trials, "trials")]
    most = contents.search.most_cells
    if study.is_cut_short:
        asked = study.settings.num_trials or study.num_trials
        parts.append(f"The search's budget ended it; its file asks for {asked} trials.")
    if most["confirm"] or len(contents.stage("confirm")):
        parts.append(state("Confirmation", contents.stage("confirm"), most["confirm"]))
    if most["path"]:
        parts.append(state("Ablation path", contents.stage("path"), most["path"]))
    return " ".join(parts)


def state(what: str, cells: pd.DataFrame, num_planned: int, unit: str = "cells") -> str:
    """Return text such as "Search: 7 of 16 trials complete, 1 failed"."""
    numbers = count_cells(cells["status"], max(num_planned, len(cells)))
    complete, missing = numbers["complete"], numbers["missing"]
    between = [
        f"{numbers[status]} {text}"
        for status, text in (("stopped_early", "stopped early"), ("failed", "failed"), ("running", "running"))
        if numbers[status]
    ]
    parts = [f"{complete} of {numbers['planned']} {unit} complete", *between]
    parts += [f"{missing} to run"] if missing else []
    return f"{what}: {', '.join(parts)}."


def caution(contents: Contents) -> str:
    """Say what the scores of a search cannot show."""
    study = contents.study
    num = int(contents.first_seeds["status"].isin(["complete", "stopped_early"]).sum())
    each = "one run with one seed"
    if study.search_seeds:
        each = f"a mean of up to {counted(len(study.search_seeds), 'seed')}, with more for lucky trials"
    what = join_words(labels(contents))
    text = (
        f"Do not rank the search's trials by their scores: each is {each}, and the best was selected by this score ("
        f"{what}), which flatters it. "
        if num
        else "Nothing has ended yet. "
    )
    plan = study.confirm_settings
    if not plan.seeds:
        return f"{text}This study confirms no trial, so none of its numbers is a result."
    where = f" on {join_words(study.evaluations)}" if study.evaluations else ""
    return f"{text}Only the confirmed values are results ({fresh_seeds(plan)}{where})."
