"""The rows of a grid against its baseline, and the paper's claims about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import nan

import pandas as pd

from analysis.columns import TableCell, cells_of, measured_scores, read_columns
from analysis.contents import baseline_scores, label_of
from analysis.paper.columns import claims_of, columns_of, printed_values
from rse_study.errors import InputError
from rse_study.frames.study_results import StudyResults
from rse_study.registry import did_you_mean
from rse_study.results.bit_equality import describe_devices, describe_stale
from rse_study.results.comparing.claims import Judged, judge
from rse_study.results.comparing.comparisons import ComparedContrast, Scores, against, compare, row_scores
from rse_study.results.comparing.contrasts import FactorEffects, letters_of, read_effects
from rse_study.results.comparing.planned import PlannedContrasts, read_planned
from rse_study.results.files.result_file import WORK
from rse_study.results.reader import Reader
from rse_study.results.row_names import find_cells_row, names_of_cells, own_baseline
from rse_study.results.study_record import StudyRecord

SAME_COMPUTE = 0.02  # of the baseline's: as near as whole steps come


@dataclass(frozen=True)
class ScaleWords:
    """The wording at one `paper.scale`."""

    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Replacements for the usual words of a verdict."""
    limits: str = ""
    """A warning about what its verdicts do not prove."""
    caption: str = ""
    """A line below tables that compare with a paper's."""


SCALES = {
    "paper": ScaleWords(),
    "mini": ScaleWords(
        {"reproduced": "same direction here", "contradicted": "other direction here"},
        "Mini scale: a direction here, with a two-layer encoder, proves nothing about BERT-base.",
        "A study at mini scale: its numbers are not a reproduction of the paper's.",
    ),
    "minilm": ScaleWords(
        {"reproduced": "same direction on MiniLM", "contradicted": "other direction on MiniLM"},
        "MiniLM scale: this six-layer encoder had already been fine-tuned on labelled sentence pairs, and was "
        "trained here for about a minute. BERT-base, which has seen no pairs, need not behave the same way.",
        "A study on MiniLM, fine-tuned on sentence pairs: its numbers are not a reproduction of the paper's.",
    ),
}


@dataclass(frozen=True)
class Comparison:
    """The comparison of a grid, which `check` prints and a report shows."""

    name: str
    label: str
    table: str
    """The paper's table, as the study's file names it."""
    scale: str
    """A key of SCALES, which limits how a verdict may be worded."""
    scores: Scores
    baseline: str
    compared: Mapping[str, ComparedContrast | None]
    """Each row minus `baseline`, with intervals for all of them."""
    judged: list[Judged]
    printed: Mapping[str, float]
    fixed: Mapping[str, float]
    """Baselines that were measured without training."""
    effects: FactorEffects
    """Effects of the factors, if the grid is a factorial design."""
    planned: PlannedContrasts
    """Contrasts that the study's file plans."""
    stale: str = ""
    devices: str = ""
    """A sentence about cells that other software made."""
    encoder: str = ""
    """The encoder that is trained, as the study's file names it."""
    letters: Mapping[str, str] = field(default_factory=dict)
    """Groups of rows that cannot be told apart, by row."""
    columns: tuple[TableCell, ...] = ()
    """Cells of the table whose metrics are not the objective."""
    degenerate: frozenset[str] = frozenset()
    """Rows, and names of `fixed`, that have a score of a collapsed model."""
    last_step: Mapping[str, float] = field(default_factory=dict)
    """Mean by row at the last step, if the objective is that of the kept checkpoint."""
    compute: Mapping[str, float] = field(default_factory=dict)
    """Operations of training by row, as multiples of the baseline's; empty where all rows have the same."""

    @property
    def num_seeds(self) -> int:
        return int(self.scores.table.notna().any().sum())

    @property
    def criterion_text(self) -> str:
        """A sentence about what decides the verdicts on rows, and why."""
        known = [one for one in self.compared.values() if one]
        return self.scores.criterion.sentence(known[0].num_together) if known else ""

    @property
    def is_complete(self) -> bool:
        return self.scores.is_complete

    def words(self, judged: Judged) -> str:
        """The verdict in the words that this scale permits."""
        return SCALES[self.scale].verdicts.get(judged.verdict, judged.verdict)

    @property
    def resolvable(self) -> float:
        """The difference found in 4 of 5 such studies: the median over rows, or NaN."""
        return float(
            pd.Series([one.resolvable for one in self.compared.values() if one], dtype=float).median()
        )


def read_comparison(reader: Reader, baseline: str = "") -> Comparison | None:
    """Return the comparison of a grid, or None for a search; `baseline` names a row."""
    study, cells = reader.study(), reader.cells()
    if study.kind != "grid":
        return None
    paper = study.settings.paper
    scores, own = row_scores(reader), own_baseline(study, cells)
    baseline = _row_named(study, baseline, cells) if baseline else own
    contrasts = against(scores.table, baseline) if baseline in scores.table.index else {}
    compared = compare(scores.table, list(contrasts.values()), criterion=scores.criterion)
    table = paper.table
    claims, columns = claims_of(table, study.encoder), read_columns(reader, table)
    measured = measured_scores(reader, [claim.measure for claim in claims if claim.measure])
    measured |= {column.heading: scores for column, scores in columns}
    printed = {} if columns else printed_values(table)
    known = baseline_scores(study, reader.evaluations(), study.objective.evaluation).dropna(subset="value")
    return Comparison(
        name=study.name,
        label=label_of(study.objective),
        table=table,
        scale=paper.scale,
        scores=scores,
        baseline=baseline,
        compared=dict(zip(contrasts, compared, strict=True)),
        judged=judge(
            claims, scores, _outside([scores, *measured.values()], own, table, study.encoder), measured
        ),
        printed=printed,
        fixed=dict(zip(known["label"], known["value"], strict=True)),
        stale=describe_stale(reader.cells(), reader.provenance()),
        devices=describe_devices(reader.cells()["provenance"]),
        encoder=study.encoder,
        letters=letters_of(scores),
        columns=cells_of(columns, baseline),
        degenerate=frozenset([*known.loc[known["degenerate"], "label"], *scores.degenerate_rows]),
        last_step=_at_the_last_step(reader, study),
        effects=read_effects(reader),
        planned=read_planned(reader),
        compute=_compute(study, cells, baseline),
    )


def _compute(study: StudyRecord, cells: pd.DataFrame, baseline: str) -> dict[str, float]:
    complete = cells[cells["status"] == "complete"]
    work = [float(where.get(WORK, nan)) for where in complete["provenance"]]
    means = pd.Series(work, names_of_cells(study, complete), dtype=float).dropna().groupby(level=0).mean()
    multiples = means / means.get(baseline, nan)
    is_same = not len(multiples) or (multiples - 1).abs().max() < SAME_COMPUTE
    return {} if is_same else multiples.dropna().to_dict()


def _at_the_last_step(reader: Reader, study: StudyRecord) -> dict[str, float]:
    if study.objective.metric == study.objective.curve:
        return {}
    cells = reader.cells()
    values = cells["identity"].map(reader.final_values(study.objective.curve)).astype(float)
    rows = cells.assign(row=names_of_cells(study, cells), value=values)[cells["status"] == "complete"]
    return dict(rows.groupby("row")["value"].mean())


def comparison_of(study: StudyResults) -> Comparison | None:
    """Return the comparison of an opened study; None for a search."""
    with Reader(study.folder) as reader:
        return read_comparison(reader)


def _row_named(study: StudyRecord, wanted: str, cells: pd.DataFrame) -> str:
    found = find_cells_row(study, wanted, cells)
    if found is None:
        names = list(dict.fromkeys(names_of_cells(study, cells)))
        remedy = did_you_mean(wanted, names)
        raise InputError(
            f"no row {wanted!r}", where=study.name, rule="a baseline is a row of it", remedy=remedy
        )
    return found


def _outside(scores: Iterable[Scores], baseline: str, table: str, encoder: str) -> list[str]:
    """Rows that a paper's "best" excludes: those not in its table, or the baseline."""
    printed = {*printed_values(table)}.union(*(column.printed for column in columns_of(table, encoder)))
    rows = dict.fromkeys(row for one in scores for row in one.table.index)
    return [row for row in rows if row not in printed] if printed else [baseline]
