"""Studies of a tiny encoder on generated sentences: what the clusters of the tests run."""

from typing import Any

BASE = {
    "method": {"blend": {"pgd": {"num_steps": 1}, "fgsm": {"num_steps": 1}}},
    "encoder": {"name": "tiny-vectors", "pooling": "mean"},
    "corpus": {"source": "builtin"},
    "optimizer": {"lr": 1e-3},
    "batch_size": 8,
    "max_length": 16,
}
ASKED = {
    "question": "Does it end as on one node?",
    "evaluations": ["builtin/test"],
    "baselines": ["token_overlap", "start"],
}
TWO_WORKERS = {"executor": "train", "workers": 2}


def budget(num_steps: int, every: int) -> dict[str, Any]:
    """The base with so many steps, measured and told every so many."""
    return BASE | {
        "budget": {"unit": "steps", "amount": num_steps},
        "selection": {"dev": "builtin", "every": every},
        "report_every": every,
    }


def grid(name: str, num_steps: int = 20, every: int = 5, **settings: Any) -> dict[str, Any]:
    """Two rows over one axis, measured every so many of their steps; `settings` are other keys of the study."""
    rows = {"grid": {"axes": {"rho": [0.0, 1.0]}}, "seeds": [0]}
    return ASKED | {"name": name, "base": budget(num_steps, every)} | rows | settings


def search(name: str, **settings: Any) -> dict[str, Any]:
    """A search with ASHA, one trial at a time so that its verdicts have one order, and its confirmation."""
    return (
        ASKED
        | {
            "name": name,
            "base": budget(16, 4),
            "search": {"alpha": {"log": [1e-6, 1e-1]}, "rho": {"float": [0, 1]}},
            "num_trials": 5,
            "sampler": {"name": "tpe", "num_startup": 3},
            "early_stopping": {"first": 4, "factor": 2},
            "seeds": [0],
            "confirm": {"seeds": [1], "num_best": 1, "resources": {"max_concurrent": 2}},
            "resources": {"executor": "inline", "max_concurrent": 1},
        }
        | settings
    )
