"""Rank agreement of a search's rungs with its ends: may trials be stopped there?

Complete trials are survivors: they lack whoever was stopped wrongly, and their narrower range mostly lowers a
correlation. Trials that no verdict could stop (those let run on, and Hyperband's last bracket) are a fair
sample, with figures of their own.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from rse_study.results.frame_columns import with_columns
from rse_study.results.reader import Reader
from rse_study.results.study_record import StudyRecord
from rse_study.search.rank_agreement import RankAgreement, rank_agreement
from rse_study.search.stopping import rule_of, rungs_of_trial

FEWEST = 8
"""trials below which nothing is said of a rung"""
LEAST = 0.5
"""lower bound on the interval of Spearman's rho"""
Sample = Literal["complete", "let run"]
FIGURES = ["spearman", "spearman_low", "spearman_high", "kendall", "kendall_low", "kendall_high"]


@dataclass(frozen=True)
class StoppingAdvice:
    """The step from which stopping can be trusted, and the evidence for it."""

    sample: Sample
    num_trials: int
    """trials of the sample at the last rung"""
    trusted_from: int | None
    """first rung from which the interval of rho lies above `LEAST` at every rung; None if it never does"""

    @property
    def can_be_said(self) -> bool:
        return self.num_trials >= FEWEST


def rung_fidelity(
    at_rungs: Mapping[int, Mapping[int, float]], at_end: Mapping[int, float], let_run: set[int], seed: int = 0
) -> pd.DataFrame:
    """Return how each rung agrees with the end, for complete and for let-run trials."""
    rows = []
    for t in sorted(at_rungs):
        values = at_rungs[t]
        paired = [
            n for n, end in sorted(at_end.items()) if np.isfinite(values.get(n, np.nan)) and np.isfinite(end)
        ]
        samples: dict[Sample, list[int]] = {
            "complete": paired,
            "let run": [n for n in paired if n in let_run],
        }
        for sample, trials in samples.items():
            found = rank_agreement([values[n] for n in trials], [at_end[n] for n in trials], seed=seed)
            rows.append((sample, t, found.num_pairs, *_figures(found)))
    return pd.DataFrame(rows, columns=["sample", "t", "num_trials", *FIGURES])


def stopping_advice(frame: pd.DataFrame) -> StoppingAdvice:
    """Return from which step on stopping can be trusted.

    That is rung T if at T and every later rung at least `FEWEST` trials have an interval above `LEAST`.
    Let-run trials decide if there are enough of them at the last rung, else all complete ones.
    """
    last = frame["t"].max()
    at_last = frame[frame["t"] == last].set_index("sample")["num_trials"]
    sample: Sample = "let run" if at_last["let run"] >= FEWEST else "complete"
    trusted = None
    rows = frame[frame["sample"] == sample].sort_values("t", ascending=False)
    for t, num_trials, low in rows[["t", "num_trials", "spearman_low"]].itertuples(index=False):
        if num_trials < FEWEST or not low > LEAST:
            break
        trusted = int(t)
    return StoppingAdvice(sample, int(at_last[sample]), trusted)


def rung_fidelity_frame(reader: Reader) -> pd.DataFrame:
    """Return `rung_fidelity` of a search in its ledger; empty of one without rungs."""
    study, cells = reader.study(), reader.cells()
    values = reader.metrics(name=study.objective.metric)
    return with_columns(fidelity_of(study, cells, values), "rung_fidelity")


def fidelity_of(study: StudyRecord, cells: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Return `rung_fidelity` of a search."""
    complete = cells[(cells["stage"] == "search") & (cells["status"] == "complete")]
    complete = complete[~complete["seed"].isin(study.further_seeds)]  # the first one alone has rungs
    trials = dict(zip(complete["identity"], complete["trial"].astype(int), strict=True))
    known = values[values["cell"].isin(list(trials))]
    known = known.assign(trial=known["cell"].map(trials)).sort_values("t")
    at_end = known.drop_duplicates("trial", keep="last").set_index("trial")["value"].to_dict()
    at_rungs = {t: known[known["t"] == t].set_index("trial")["value"].to_dict() for t in study.rungs}
    return rung_fidelity(at_rungs, at_end, set(unstoppable(study, at_end)), study.search_seed)


def unstoppable(study: StudyRecord, trials: Iterable[int]) -> Iterator[int]:
    """Return the trials that no verdict could stop: let run on, or without a rung."""
    rule, seed = rule_of(study), study.search_seed
    for trial in trials:
        is_free = rule is not None and rule.effective(seed, trial, 0.0, "stop") == "continue"
        if is_free or not rungs_of_trial(study, trial):
            yield trial


def _figures(found: RankAgreement) -> tuple[float, ...]:
    rho, tau = found.spearman_interval, found.kendall_interval
    return found.spearman, rho.low, rho.high, found.kendall, tau.low, tau.high
