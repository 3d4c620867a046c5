"""Which rows are decided, and which seeds the others get."""

from math import nan

from hypothesis import given, settings
from hypothesis import strategies as st

from rse_study.results.comparing.row_seeds import RowCourse, RowSeeds
from rse_study.results.settings import UntilDecided

NOISE = (0.05, -0.04, 0.02, -0.03, 0.04, -0.05, 0.01, 0.0)
BASE = (0.0, 0.0)


def seeds_of(*rows, num_seeds=8, num_rows=0, **more):
    """Rows as mean and share of the noise; the first is the baseline."""
    values = {
        trial: {seed: 60 + mean + share * NOISE[seed] for seed in range(num_seeds)}
        for trial, (mean, share) in enumerate(rows)
    }
    bounds = UntilDecided(until="decided", at_least=3, at_most=9)
    return RowSeeds(bounds, num_rows or len(rows), 0, values | more.pop("values", {}), margin=0.5, **more)


def test_rows_are_decided_where_their_confidence_sequence_is_and_the_others_get_one_seed_more():
    rows = (BASE, (1.0, 1.0), (-2.0, 1.0), (0.1, 1.0), (1.0, 60.0))
    found = seeds_of(*rows)
    verdicts = [one.verdict for one in found.courses.values()]
    assert verdicts == ["better", "worse", "same", "undecided"]
    assert [len(found.seeds_of(trial)) for trial in range(5)] == [9, 8, 8, 8, 9]
    assert (found.num_wanted, found.most_cells) == (42, 42)
    assert {one.verdict for one in seeds_of(*rows, num_seeds=5).courses.values()} == {"undecided"}
    less = seeds_of(*rows, less_is_better=True)
    assert [one.verdict for one in less.courses.values()] == ["worse", "better", "same", "undecided"]


def test_more_rows_ask_for_more_seeds_and_those_that_nobody_has_planned_count():
    better = (1.0, 1.0)
    assert seeds_of(BASE, better, num_seeds=5).courses[1].verdict == "better"
    found = seeds_of(BASE, better, num_seeds=5, num_rows=5)
    assert found.courses[1].verdict == "undecided"
    assert (found.num_wanted, found.most_cells) == (2 * 6 + 3 * 3, 5 * 9)


def test_a_row_that_shares_no_first_seed_with_the_baseline_waits_for_it():
    found = seeds_of(BASE, (1.0, 1.0), values={1: {3: 61.0, 4: 61.5}})
    assert found.courses[1] == RowCourse("undecided", 0, 3, 9)
    assert found.seeds_of(1) == (0, 1, 2, 3, 4)
    alone = seeds_of(BASE, num_seeds=2)
    assert (alone.num_wanted, alone.most_cells) == (3, 3)


def test_a_row_that_failed_with_a_seed_is_not_decided_by_the_others():
    found = seeds_of(BASE, (1.0, 1.0), values={1: {seed: 61 + NOISE[seed] for seed in range(7)} | {7: nan}})
    assert found.courses[1] == RowCourse("undecided", 8, 8, 8)
    for failed in ({0: 61.0, 1: nan}, {0: nan, 1: 61.0, 2: 61.0}):  # none beyond the first, and they are 3
        early = seeds_of(BASE, (1.0, 1.0), values={1: failed}, num_seeds=3)
        assert (early.courses[1].num_seeds, early.courses[1].most_seeds, early.most_cells) == (3, 3, 6)
    large = seeds_of(BASE, (1.0, 1.0), values={1: {seed: 61 + NOISE[seed] for seed in range(7)} | {7: 1e200}})
    assert large.courses[1] == found.courses[1]
    failed = {0: dict.fromkeys(range(7), 60.0) | {7: nan}}
    assert seeds_of(BASE, (1.0, 1.0), values=failed).courses[1].verdict == "undecided"


def cells_in_the_order(pick, bounds, means, first_seed):
    """Ends one open cell after the other, as `pick` says; returns the seeds of each row."""
    ended = {trial: {} for trial in range(len(means))}
    while True:
        rows = RowSeeds(bounds, len(means), 0, ended, margin=0.5, first_seed=first_seed)
        left = [(trial, seed) for trial in ended for seed in rows.seeds_of(trial) if seed not in ended[trial]]
        if not left:
            assert rows.num_wanted == rows.most_cells
            return {trial: sorted(seeds) for trial, seeds in ended.items()}
        trial, seed = pick(left)
        ended[trial][seed] = means[trial] + NOISE[seed % 8] * (1 + 20 * (trial % 2))


@settings(max_examples=40, deadline=None)
@given(st.data(), st.lists(st.floats(-2, 2), min_size=2, max_size=4), st.integers(0, 4))
def test_any_order_of_ends_gives_the_same_seeds_from_the_first_on(data, means, first_seed):
    bounds = UntilDecided(until="decided", at_least=3, at_most=7)
    found = cells_in_the_order(lambda left: left[0], bounds, means, first_seed)
    order = cells_in_the_order(lambda left: data.draw(st.sampled_from(left)), bounds, means, first_seed)
    assert order == found
    assert all(seeds == list(range(first_seed, first_seed + len(seeds))) for seeds in found.values())
