"""What a trial's materials depend on, and what they do not."""

from rse_study.training.trial import Trial


def needs(**changes):
    return Trial.model_validate(changes).needs()


PREPARED = [
    *({"encoder": {"name": "tiny"}}, {"encoder": {"pooling": "mean"}}),
    {"corpus": {"source": {"kind": "builtin", "num_sentences": 100}}},
    {"selection": {"dev": "builtin"}},
    {"batch_size": 32},
    {"max_length": 64},
    {"method": {"lambda2": 0}},
    {"method": {"rtd": {"generator": "tiny"}}},
    {"method": {"masks": {"phi": 0.1}}},
    {"method": {"name": "dcl"}},
    {"replayed": {"recipe": "pwws"}},
]
READ_IN_TRAINING = [{"optimizer": {"lr": 1e-3}}, {"budget": {"amount": 1}}, {"precision": "float64"}]
READ_IN_TRAINING += [{"report_every": 7}, {"selection": {"every": 50, "keep": "last"}}]
READ_IN_TRAINING += [{"method": method} for method in ({"blend": {"rho": 0.25}}, {"lambda1": 0.5})]


def test_what_is_prepared_for_a_trial_is_part_of_them_and_what_only_training_reads_is_not():
    assert [changes for changes in PREPARED if needs(**changes) == needs()] == []
    assert [changes for changes in READ_IN_TRAINING if needs(**changes) != needs()] == []
    assert {hash(needs(**changes)) for changes in READ_IN_TRAINING} == {hash(needs())}
