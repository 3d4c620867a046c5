"""Steps of budgets that count epochs."""

from dataclasses import replace

import pytest

from rse_study.errors import InputError
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.training.trial import Trial
from tests.on_ray.world import make_materials


@pytest.fixture
def num_steps(content, tmp_path):
    sizes = DataSizes(tmp_path)

    def of(**changes):
        return sizes.num_steps(Trial.model_validate({**content["base"], **changes})), sizes.supposed

    return of


def test_epochs_drop_the_incomplete_batch_of_the_distinct_sentences_of_their_corpus(num_steps, tmp_path):
    epochs = {"unit": "epochs", "amount": 3}
    assert num_steps(budget={"unit": "steps", "amount": 60}) == (60, [])
    assert num_steps(budget=epochs) == (3 * 250, [])
    assert num_steps(budget=epochs, corpus={"source": "builtin", "limit": 100}) == (3 * 3, [])
    (tmp_path / "c.txt").write_text("\n".join(f"sentence {i % 70}" for i in range(200)))
    assert num_steps(budget=epochs, corpus={"source": "c.txt"}) == (3 * 2, [])


def test_what_was_prepared_is_not_read_again_to_be_counted(content, tmp_path):
    corpus = {"source": "not/here.txt"}
    trial = Trial.model_validate(
        content["base"] | {"budget": {"unit": "epochs", "amount": 2}, "corpus": corpus}
    )
    materials, sizes = replace(make_materials(tmp_path), num_sentences=320), DataSizes(tmp_path)
    assert sizes.counting(lambda trial: materials)(trial) is materials
    assert sizes.num_steps(trial) == 2 * 320 / 32


def test_a_corpus_that_is_not_here_counts_as_its_limit_and_without_one_is_refused(num_steps):
    epochs = {"unit": "epochs", "amount": 2}
    steps, (said,) = num_steps(budget=epochs, corpus={"source": "not/here.txt", "limit": 6400})
    assert steps == 2 * 6400 / 32
    assert "not/here.txt is not here: assumed to hold 6,400 sentences" in said
    with pytest.raises(InputError, match="no such file"):
        num_steps(budget=epochs, corpus={"source": "not/here.txt"})
