"""The studies that are simulated: each feature of a study, as small as it can be."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from rse_study.study.checking.validation import CheckedStudy
from tests.on_ray.world import STUDY, checked_of, grid_of

BASE = STUDY["base"] | {"budget": {"unit": "steps", "amount": 4}}
CONTENT = STUDY | {"base": BASE, "baselines": [], "sampler": {"name": "random"}}
GRID = grid_of(CONTENT, baselines=[], grid={"axes": {"rho": [0.0, 0.5]}, "rows": {"strong": {"alpha": 1e-3}}})
ROWS = {"base": {}, "better": {"alpha": 1e-3}, "worse": {"alpha": 1e-6}}
CONDITIONAL = {
    "method": {"variants": {"paper": {}, "l2p": {"method": {"name": "l2p_csr"}}}},
    "alpha": {"log": [1e-6, 1e-3], "when": {"method": "paper"}},
    "phi": {"float": [0, 0.3], "when": {"method": "l2p"}},
    "lr": {"log": [1e-3, 1e-1]},
}
ASHA = {"early_stopping": {"first": 1, "factor": 2}}

STUDIES: dict[str, Mapping[str, Any]] = {
    "grid": GRID | {"seeds": [0, 1]},
    "scored": GRID | {"seeds": [0, 1], "evaluations": ["builtin/test"]},
    "decided": grid_of(CONTENT, baselines=[], grid={"rows": ROWS, "baseline": "base"})
    | {"seeds": {"until": "decided", "at_least": 3, "at_most": 5}},
    "search": CONTENT | {"num_trials": 6, "confirm": {"seeds": [1], "num_best": 2}},
    "stopped": CONTENT | ASHA | {"num_trials": 6, "confirm": {"seeds": [1], "num_best": 1}},
    "budget": CONTENT | {"num_trials": 8, "search_budget": {"steps": 20}} | ASHA,
    "hours": CONTENT | {"num_trials": 8, "search_budget": {"device_hours": 0.05}},
    "path": CONTENT | {"num_trials": 3, "confirm": {"seeds": [1]}, "ablation_path": {"seeds": [1, 2]}},
    "conditions": CONTENT
    | {"search": CONDITIONAL, "num_trials": 6, "sampler": {"name": "tpe", "num_startup": 3}},
    "front": CONTENT
    | {
        "objectives": [{"metric": "dev"}, {"metric": "cost/work", "direction": "minimize"}],
        "confirm": {"num_best": 2, "baseline": "none", "seeds": [1]},
        "num_trials": 5,
    },
}
SERIAL = {"max_concurrent": 1}
QUICK_TO_GIVE_UP = {"max_silence_s": 400.0}


@cache
def checked_study(name: str, *, is_serial: bool, storage: str = "") -> CheckedStudy:
    """Return a study, checked; `is_serial`: one cell at a time."""
    resources = QUICK_TO_GIVE_UP | (SERIAL if is_serial else {})
    where = {"storage": storage} if storage else {}
    return checked_of(dict(STUDIES[name]) | {"name": name, "resources": resources} | where)
