"""The body of `compare`: rows, or the rows that studies share, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from rse_study.cli import parameters
from rse_study.cli.arguments import require_file, study_folder
from rse_study.cli.terminal.screen import announce, command, in_store, json_of, suggest
from rse_study.errors import InputError, refuse
from rse_study.registry import did_you_mean
from rse_study.results.comparing.comparisons import MIN_SEEDS, compare, row_scores
from rse_study.results.comparing.criterion import LEVEL, Criterion
from rse_study.results.reader import Reader
from rse_study.results.row_names import find_cells_row
from rse_study.results.statistics import EXACT_UP_TO

FIRST, SECOND = "first", "second"
BY_SEED = "\n    by seed: "
NamedPair = tuple[str, pd.DataFrame, Criterion]


@dataclass(frozen=True)
class GivenRows:
    """Rows of a study that a user named, with their scores."""

    name: str
    table: pd.DataFrame
    """[rows, seeds]"""
    label: str
    """the measure, for readers"""
    criterion: Criterion


@dataclass(frozen=True)
class ComparedPair:
    """A row minus another, in words and in numbers."""

    name: str
    text: str
    numbers: dict[str, Any]


def compare_rows(
    rows: parameters.RowArguments,
    metric: Annotated[
        str, typer.Option(help="task/split, for example STS-B/test; default: the studies' objective.")
    ] = "",
    unpaired: Annotated[bool, typer.Option("--unpaired", hidden=True, help="Refused.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page that shows them side by side.")
    ] = None,
    as_json: parameters.AsJson = False,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Compare rows, or all rows that studies share.

    The first minus each of the others, seed by seed.
    """
    if unpaired:
        remedy = "Run both rows with the same seeds, or `export` the scores and compare their means"
        raise InputError("the option --unpaired was removed", remedy=remedy)
    if len(rows) < 2:
        remedy = f"Name another one: rse-study compare {' '.join(rows)} OTHER"
        raise InputError("nothing to compare with", where="STUDY[:ROW]", rule="two are needed", remedy=remedy)
    if out:
        require_file(out, where="--out")
    first, *others = chosen = [_read(name, metric, store) for name in rows]
    criterion = _strictest(chosen)
    pairs = [pair for other in others for pair in _pairs(first, other, criterion, is_named=len(others) > 1)]
    found, problems = _compared_together(pairs)
    at_once = f"; intervals hold for all {len(pairs)} rows at once" if len(pairs) > 1 else ""
    title = f"{first.label}: {first.name} minus {', '.join(rows[1:])}{at_once}"
    said = (criterion.sentence(len(pairs)), *sorted({one.criterion.assumption for one in chosen}))
    sentence = "" if not found else " ".join(filter(None, said))
    if out:
        _write_page(out, [title, sentence, *map(str, problems)], found, chosen)
    if as_json:
        content = {"measure": first.label, "first": first.name, "others": rows[1:], "criterion": sentence}
        print(json_of(content | {"compared": [{"name": one.name, **one.numbers} for one in found]}))
    else:
        announce(*filter(None, (title, *(f"{one.name}: {one.text}" for one in found), sentence)))
        if out:
            print(out)
    refuse(problems)
    if not as_json:
        suggest("" if out else command("report", first.name.partition(":")[0], *in_store(store)))


def _read(given: str, metric: str, store: Path) -> GivenRows:
    study, _, row = given.partition(":")
    with Reader(study_folder(study, store)) as reader:
        record = reader.study()
        named = {measure.name: measure.metric for measure in record.shown_measures}
        found = row_scores(reader, named.get(metric, metric))
        known = [*named, *reader.evaluations()["metric"].unique()]
        row = find_cells_row(record, row, reader.cells()) or row
    label, table = metric or record.objective.label or record.objective.metric, found.table.dropna(how="all")
    if table.empty:
        rule = f"no row has a score of {label!r}" if metric else "no row has a score yet"
        remedy = did_you_mean(metric, known) if metric else "See its progress: rse-study status"
        raise InputError("nothing to compare", where=study, rule=rule, remedy=remedy)
    if row and row not in table.index:
        raise InputError(
            f"no row {row!r} with a score", where=study, remedy=did_you_mean(row, [*table.index])
        )
    table = table.loc[[row]] if row else table
    troubles = {name: text for name, text in found.criterion.troubles.items() if name in table.index}
    waiting = found.criterion.waiting.intersection(table.index)
    return GivenRows(given, table, label, replace(found.criterion, troubles=troubles, waiting=waiting))


def _strictest(chosen: Sequence[GivenRows]) -> Criterion:
    """Return what decides if any study needs it, and the smallest margin."""
    least = min((one.criterion for one in chosen), key=lambda one: (one.margin, not one.margins_seen))
    rules = {one.name.partition(":")[0]: one.criterion for one in chosen if one.criterion.is_anytime}
    why = next((f"of {study}, {rule.why}" for study, rule in rules.items()), chosen[0].criterion.why)
    waiting = frozenset().union(*(one.criterion.waiting for one in chosen))
    return replace(least, is_anytime=bool(rules), why=why, waiting=waiting)


def _pairs(first: GivenRows, second: GivenRows, common: Criterion, *, is_named: bool) -> Iterator[NamedPair]:
    """Yield the name of each pair of rows, its frame [first and second, seeds], and what decides it."""
    one, other, where = first.table, second.table, f"{first.name}, {second.name}"
    if first.label != second.label:
        rule = f"{first.label!r} is not {second.label!r}"
        remedy = "Name an evaluation both have: --metric STS-B/test"
        raise InputError("not the same measure", where=where, rule=rule, remedy=remedy)
    names = [(row, row) for row in one.index if row in other.index]
    if len(one) == len(other) == 1:
        names = [(one.index[0], other.index[0])]
    if not names:
        rule, remedy = "rows are matched by name", "Name the rows: STUDY:ROW"
        raise InputError("no row in common", where=where, rule=rule, remedy=remedy)
    for here, there in names:
        both = f"{here} ({first.name} minus {second.name})" if is_named else here
        name = both if here == there else f"{here} minus {there}"
        shared = first.criterion.seeds[here] & second.criterion.seeds[there]
        rules = ((first.criterion, here), (second.criterion, there))
        ends = (common, *(replace(rule, seeds={row: shared}).on([row]) for rule, row in rules))
        is_anytime, is_lost = (any(getattr(end, what) for end in ends) for what in ("is_anytime", "is_lost"))
        so_far = max(end.so_far for end in ends)
        pair = pd.DataFrame({FIRST: one.loc[here], SECOND: other.loc[there]}).T
        yield name, pair, replace(common, is_anytime=is_anytime, is_lost=is_lost, so_far=so_far)


def _compared_together(pairs: Sequence[NamedPair]) -> tuple[list[ComparedPair], list[InputError]]:
    """Compare pairs, with intervals that hold for all of them at once; return also why some cannot be."""
    found, problems, level = list[ComparedPair](), list[InputError](), 1 - (1 - LEVEL) / len(pairs)
    for name, pair, rule in pairs:
        try:
            found.append(_compared(name, pair, level, rule))
        except InputError as problem:
            problems.append(problem)
    return found, problems


def _compared(name: str, pair: pd.DataFrame, level: float, criterion: Criterion) -> ComparedPair:
    num_rows = pair.notna().sum()  # by seed
    (found,) = compare(pair, [{FIRST: 1.0, SECOND: -1.0}], level, criterion)
    if found is None:
        rule = f"pairs need {MIN_SEEDS} seeds that both rows have; they share {(num_rows == 2).sum()}"
        raise InputError("cannot be paired", where=name, rule=rule, remedy="Run the missing seeds")
    verdict, low, high = found.verdict, found.deciding.low, found.deciding.high
    words = f"{f'the same{criterion.within}' if verdict == 'same' else verdict}{criterion.so_far}"
    exact = f"p = {found.p_exact:.4f} (sign-flip), {found.p_wilcoxon:.4f} (Wilcoxon), "
    alone = ", ".join(map(str, pair.columns[num_rows == 1]))
    left_out = f"; without seeds {alone}, which only one has" if alone else ""
    text = (
        f"{found.mean:+.2f}, 95% [{low:+.2f}, {high:+.2f}], {words}, {found.n} seeds paired, SD {found.sd:.2f}, "
        f"{exact if found.n <= EXACT_UP_TO else ''}g {found.effect:+.2f}{left_out}{BY_SEED}"
        f"{', '.join(f'{seed}: {value:+.2f}' for seed, value in found.by_seed.items())}"
    )
    return ComparedPair(name, text, {
        "mean": found.mean, "low": low, "high": high, "verdict": verdict, "sd": found.sd,
        "p_sign_flip": found.p_exact, "p_wilcoxon": found.p_wilcoxon, "hedges_g": found.effect,
        "by_seed": found.by_seed,
    })  # fmt: skip


def _write_page(
    out: Path, told: Sequence[str], found: Sequence[ComparedPair], chosen: Sequence[GivenRows]
) -> None:
    """Write the printed sentences, the differences and the scores behind them."""
    from analysis import page
    from analysis.formats import show_number

    pairs = [(one.name, *one.text.partition(BY_SEED)[::2]) for one in found]
    rows = [
        one.table.add_prefix("seed ").assign(mean=one.table.mean(axis=1), given=one.name) for one in chosen
    ]
    scores = pd.concat(rows).rename_axis("row").set_index("given", append=True).map(show_number).reset_index()
    tables = {"Differences": pd.DataFrame(pairs, columns=["pair", "difference", "by seed"]), "Scores": scores}
    shown = [page.section(name, page.table(one, (), "long", name.lower())) for name, one in tables.items()]
    title, *sentences = told
    opening = [f"<h1>{page.escape(title)}</h1>", *map(page.paragraph, sentences)]
    page.write(out, page.page(title, [*opening, *shown]))
