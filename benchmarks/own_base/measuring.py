"""Makes the rows of `benchmarks.own_base` that its folder lacks."""

import argparse
import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchmarks.machine import describe_machine
from benchmarks.own_base.encoders import OwnEncoders
from benchmarks.own_base.plan import BaseRun, OwnBasePlan, ScoreRun, require_recipe, write_plan
from benchmarks.own_base.rows import BaseRow, ScoreRow, read_rows, write_row
from benchmarks.own_base.settings import recipe_of, simcse_trial
from benchmarks.own_base.text import FreeText, read_free_text
from rse_study.activity import ActivityCallback
from rse_study.assets.prepare import prepare
from rse_study.assets.store import META
from rse_study.cli.activity_bars import ActivityBars, SaidOnce
from rse_study.cli.verbs.train import StepReport
from rse_study.cli.writable import require_folder
from rse_study.data.readers import read_sts
from rse_study.errors import NonFiniteLoss
from rse_study.evaluation.sts import Similarity
from rse_study.results.result_file import read_result
from rse_study.training.processes import train_locally


def measure_rows(options: argparse.Namespace) -> None:
    """Make every row that the command line asks for and that its folder lacks."""
    require_folder(options.out, where="--out")
    recipe = recipe_of(options)  # checked now, and not after the text was read
    with ActivityBars() as bars:
        bars.message("own base: reading the text")
        text = read_free_text(options.data)
        plan = plan_of(options, recipe, text)
        write_plan(options.out, require_recipe(options.out, plan))
        rows, runs = read_rows(options.out), list(plan.runs())
        callback = SaidOnce(bars)
        bench = OwnBaseBench(
            options, OwnEncoders(options, text.first, callback), callback, describe_machine_briefly()
        )
        for number, run in enumerate(runs, start=1):
            if not rows.has(run):
                bars.message(f"row {number} of {len(runs)}, {run.name}")
                bars.message(bench.measure(run))


def plan_of(options: argparse.Namespace, recipe: dict[str, object], text: FreeText) -> OwnBasePlan:
    """Amounts, seeds and recipe of a command line.

    Parameters
    ----------
    options
        Of the command line.
    recipe
        By `recipe_of`; text and dev pairs are added.
    text
        All of it.

    Raises
    ------
    InputError
        The text has fewer sentences than are asked for, or there are no dev pairs.
    """
    dev = Similarity(read_sts("STS-B", "dev", options.data))
    amounts = {one.num_sentences: one for one in map(text.amount, options.sentences)}
    overlap = next(row.value for row in dev.score_overlap("token_overlap") if row.aggregation == "all")
    summary = text.summary
    return OwnBasePlan(
        recipe={**recipe, "text": summary.whole.text, "dev": dev.fingerprint},
        text=summary,
        token_overlap=overlap,
        amounts=tuple(amounts[number] for number in sorted(amounts)),
        seeds=tuple(dict.fromkeys(options.seeds)),
        simcse_seeds=tuple(dict.fromkeys(options.simcse_seeds)),
    )


def describe_machine_briefly() -> dict[str, str]:
    """What each row says of the machine and the code that made it."""
    known = describe_machine(seed=0)
    return {"cpu": known["cpu"], "torch": known["packages"]["torch"], "commit": known["commit"]}


@dataclass
class OwnBaseBench:
    """Trains encoders in the folder of a command, and writes their rows into it."""

    options: argparse.Namespace
    encoders: OwnEncoders
    callback: ActivityCallback
    machine: dict[str, str]

    def measure(self, run: BaseRun | ScoreRun) -> str:
        """Make and write a row; what it says, in a line."""
        if isinstance(run, BaseRun):
            base = self.train_base(run)
            write_row(self.options.out, base)
            self.encoders.forget_curve(run)
            accuracies = f"{base.masked_accuracy:.1%}, the commonest token's {base.unigram_accuracy:.1%}"
            return f"masked accuracy {accuracies}; {base.seconds:.0f} s"
        score = self.train_simcse(run)
        write_row(self.options.out, score)
        shutil.rmtree(self._cell(run))
        after = f"{score.dev_after:.2f} after SimCSE" if score.dev_after is not None else score.failure
        return f"STS-B dev {score.dev_before:.2f} before, {after}; {score.seconds:.0f} s"

    def train_base(self, run: BaseRun) -> BaseRow:
        """Train a base, or take the one that is there, with its loss curve."""
        made = json.loads((self.encoders.base(run) / META).read_text(encoding="utf-8"))
        curve = self.encoders.curve(run)
        return BaseRow(
            num_sentences=run.num_sentences,
            seed=run.seed,
            num_pieces=made["vocabulary"],
            num_steps=curve[-1][0],
            losses=tuple(curve),
            masked_accuracy=made["masked_accuracy"],
            unigram_accuracy=made["unigram_accuracy"],
            num_masked_tokens=made["num_masked_tokens"],
            seconds=made["seconds"],
            machine=self.machine,
        )

    def train_simcse(self, run: ScoreRun) -> ScoreRow:
        """Train SimCSE on an encoder, with dev at the start and at the end."""
        base, cell, failure = BaseRun(run.num_sentences, run.seed), self._cell(run), ""
        encoder = self.encoders.base(base) if run.encoder == "own" else self.encoders.untrained(base)
        trial = simcse_trial(self.options, str(encoder))
        materials = prepare(trial, self.options.out, self.options.data, self.callback)
        report = StepReport(f"{run.name}: SimCSE", self.callback).report
        try:
            train_locally(trial, run.simcse_seed, materials, cell, report=report)
        except NonFiniteLoss as lost:
            failure = f"the loss was lost at {lost}"
        result = read_result(cell)
        return ScoreRow(
            encoder=run.encoder,
            num_sentences=run.num_sentences,
            seed=run.seed,
            simcse_seed=run.simcse_seed,
            dev_before=result.history[0].metrics["dev"],
            dev_after=None if failure else result.history[-1].metrics["dev"],
            failure=failure,
            seconds=round(result.duration_s, 1),
            machine=self.machine,
        )

    def _cell(self, run: ScoreRun) -> Path:
        return Path(self.options.out) / "cells" / run.name
