"""An arm of the comparison: a sampler and a rule of early stopping."""

from dataclasses import dataclass

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.search.stopping import Asha, Hyperband, Median, StoppingRule
from rse_study.study.definition.search import Sampler

RULES: dict[str, type[StoppingRule]] = {"asha": Asha, "median": Median, "hyperband": Hyperband}


@dataclass(frozen=True)
class Arm:
    """A sampler and a stopping rule, as plain data."""

    sampler: str
    """a study's name for it"""
    rule: str = ""
    """a name of `RULES`; empty for no early stopping"""

    @property
    def name(self) -> str:
        """The name on the command line: `tpe`, `tpe+asha`."""
        return f"{self.sampler}+{self.rule}" if self.rule else self.sampler

    def make_sampler(self) -> Sampler:
        """Return the sampler as a study configures it."""
        return Sampler.model_validate({"name": self.sampler})

    def stopping(self, rungs: tuple[int, int] | None) -> StoppingRule | None:
        """Return the rule with a surface's first rung and factor."""
        if not self.rule or rungs is None:
            return None
        return RULES[self.rule].model_validate({"first": rungs[0], "factor": rungs[1]})


def arm_of(name: str) -> Arm:
    """Return the arm of a name such as `tpe+asha`; raise InputError if unknown."""
    sampler, _, rule = name.partition("+")
    if rule and rule not in RULES:
        raise InputError(f"--arms {name}", rule=f"no rule {rule!r}", remedy=did_you_mean(rule, RULES))
    arm = Arm(sampler, rule)
    try:
        arm.make_sampler()
    except ValidationError as error:
        said = error.errors()[0]["msg"]
        raise InputError(f"--arms {name}", rule=f"no sampler {sampler!r}", remedy=said) from None
    return arm
