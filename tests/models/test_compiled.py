"""torch.compile changes how a step is computed, and neither its numbers nor its dropout."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow  # a compiler is at work


@pytest.mark.parametrize(("name", "backend"), [("robust_sent_embed", "aot_eager"), ("consert", "inductor")])
def test_numbers_and_dropout_stay_and_other_lengths_are_not_compiled_again(name, backend):
    command = [sys.executable, "-m", "tests.models.compiled_steps", name, backend]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert found["apart"] < 1e-10
    assert found["breaks"] == 0
    assert found["graphs"][0] > 0
    assert found["graphs"][-1] == found["graphs"][1]
