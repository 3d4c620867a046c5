"""What each method computes is on file: a refactoring changes none of it, on any CPU.

`python -m tests.methods.test_golden` adds the figures of new entries; with `--anew` all, once a move is meant.
"""

import json
import sys
from typing import get_args

import pytest

from rse_study.methods import RobustSentEmbed
from rse_study.models.rtd import HEADS
from rse_study.perturbations.geometry import Norm
from tests.conformance.entries import GOLDEN, NUM_VIEWS
from tests.methods.golden import FILE, TOLERANCE, largest_move, on_file, record


@pytest.mark.parametrize("name", GOLDEN)
def test_figures_are_those_on_file(name):
    assert name in on_file(), "run `python -m tests.methods.test_golden`, which records what is not on file"
    moved = largest_move(on_file()[name], record(GOLDEN[name], NUM_VIEWS.get(name, 0)))
    assert moved <= TOLERANCE, f"figures moved by {moved:.3g}: bump semantics or revert"


def test_every_entry_is_on_file():
    assert {getattr(method, "head", "none") for method in GOLDEN.values()} >= set(HEADS)
    blended = [method for method in GOLDEN.values() if isinstance(method, RobustSentEmbed)]
    assert {method.blend.pgd.ball.norm for method in blended} == set(get_args(Norm))
    assert on_file().keys() == GOLDEN.keys(), "run `python -m tests.methods.test_golden`"


if __name__ == "__main__":
    given = {} if "--anew" in sys.argv else on_file()
    figures = {
        name: given.get(name) or record(method, NUM_VIEWS.get(name, 0)) for name, method in GOLDEN.items()
    }
    FILE.write_text(json.dumps(figures, indent=1) + "\n")
