"""A grid of two rows that has run from its file: its cells are in a ledger, complete, and nothing was trained."""

from dataclasses import replace

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point
from rse_study.results.records import CellRecord
from rse_study.study.checking.validation import read_study
from rse_study.study.record import study_record
from rse_study.training.materials import identity_of
from tests.on_ray.world import few_pairs
from tests.results.world import begin, end

FILE = """
name: mine
question: Does rho matter?
base:
  encoder: {name: tiny, pooling: mean}
  budget: {unit: steps, amount: 3}
  batch_size: 4
  max_length: 16
  selection: {dev: builtin}
grid: {rows: {one: {rho: 0}, two: {rho: 0.5}}}
seeds: [0, 1]
evaluations: []
baselines: []
"""


def write(path, *edits):
    """Write the file with these replacements, and read it."""
    text = FILE
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text)
    return read_study(path)


def run(checked, study_dir, materials):
    """Enter complete cells of every row and seed, and retire all others."""
    with Ledger.open(study_dir) as ledger:
        ledger.freeze(study_record(checked, few_pairs("builtin/dev")), "created")
        ledger.retire_others((), "grid")
        for number, row in enumerate(checked.rows):
            for seed in checked.study.all_seeds:
                cell = CellRecord(
                    identity=identity_of(row.trial, seed, materials), trial=number, seed=seed, stage="grid",
                    label=row.label, config=row.trial.model_dump(mode="json"), proposal=row.proposal,
                )  # fmt: skip
                of_cell = {"materials": dict(materials.fingerprints)}
                point = Point(t=3, metrics={"dev": 50.0})
                end(ledger, begin(ledger, cell), history=(point,), final=point.metrics, provenance=of_cell)


def on_another(part, materials):
    """The same materials, one part of which has another fingerprint."""
    return replace(materials, fingerprints=materials.fingerprints | {part: "other"})
