"""`--device cuda` of commands that score an encoder: it and the models made from it compute there, and nowhere else."""

import pytest

from tests.downstream.toy_tasks import write_nli
from tests.simulated_card import simulated_card

QUICK = ("--pooling", "mean")


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", *QUICK),
        ("attack", "--on", "AdvSTS-B", "--recipe", "pwws", "--inputs", "1", "--max-queries", "9", *QUICK),
        ("fine-tune", "--suite", "nli", "--max-length", "16", "--epochs", "1", *QUICK),
    ],
    ids=lambda command: command[0],
)
def test_a_command_computes_on_the_device_that_it_is_given(
    command, rse, no_hub, learner, models_folder, toy_data, tmp_path, monkeypatch
):
    model, folder = (
        (learner, tmp_path) if command[0] == "fine-tune" else (models_folder / "encoder", toy_data)
    )
    write_nli(tmp_path, "snli/snli_1.0_train", 20, seed=0)
    write_nli(tmp_path, "snli/snli_1.0_test", 6, seed=1)
    verb, *options = command
    asked = (verb, str(model), "--data", str(folder), "--json", *options)
    with simulated_card(monkeypatch) as card:
        ended = rse(*asked, "--device", "cuda")
    assert ended.code == 0, ended.err
    assert card.num_products > 0
    refused = rse(*asked, "--device", "cuda")
    assert (refused.code, "--device: device 'cuda': must be one of cpu here" in refused.err) == (2, True)
