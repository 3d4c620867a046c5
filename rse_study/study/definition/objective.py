"""The objective of a study, and the metrics that may be one."""

from typing import Annotated, Literal

from pydantic import AfterValidator, model_validator

from rse_study.downstream.registry import all_evaluations
from rse_study.registry import did_you_mean
from rse_study.results.records import COSTS
from rse_study.spec import Spec

METRICS = ("dev", "dev/kept", "loss", "robust/spearman", "robust/drift", "robust/accuracy")
LOWER_IS_BETTER = ("loss", "robust/drift", *COSTS)


def _may_select(metric: str) -> str:
    """Return a metric by which trials may be chosen; raise ValueError for others."""
    if "test" in metric:
        raise ValueError(f"{metric!r} is a test split, which can never select. Use `dev`")
    if metric.rpartition("/")[0] in all_evaluations():
        raise ValueError(f"{metric!r} is an evaluation's, and those never select. Use `dev`")
    known = (*METRICS, *COSTS)
    if metric not in known:
        raise ValueError(f"{metric!r} is not produced by training. {did_you_mean(metric, known)}")
    return metric


SelectingMetric = Annotated[str, AfterValidator(_may_select)]
"""dev, loss, robust/..., or what a cell costs: cost/work (P*T), cost/seconds; of a grid also dev/kept"""


class Objective(Spec):
    """What is optimised: a metric's value at a trial's last step.

    A search is never told the best value on the way. A grid, which optimises nothing, may show `dev/kept`: dev at the
    checkpoint that is kept (`selection.keep`), as papers do.
    """

    metric: SelectingMetric = "dev"
    direction: Literal["maximize", "minimize"] = "maximize"

    @model_validator(mode="after")
    def _towards_the_better(self) -> "Objective":
        better = "minimize" if self.metric in LOWER_IS_BETTER else "maximize"
        if self.direction != better:
            raise ValueError(f"a better {self.metric!r} is found by `direction: {better}`")
        return self
