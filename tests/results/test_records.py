from hypothesis import given
from hypothesis import strategies as st

from rse_study.results.records import OWN_COLUMNS, AxisRecord, ObjectiveRecord, StudyRecord

WORDS = st.sampled_from(["alpha", "beta", "step", "trial", "objective"])


def study(*axes):
    return StudyRecord(
        name="s",
        objective=ObjectiveRecord(metric="dev"),
        axes=[
            AxisRecord(name=name, symbol=symbol, paths=(f"a.{name}",), kind="int", low=0, high=1)
            for name, symbol in axes
        ],
    )


def test_symbols_are_the_headings():
    assert study(("pgd.step_size", "alpha"), ("N", "")).headings == ("alpha", "N")


def test_a_shared_symbol_gives_way_to_the_names():
    assert study(("pgd.step_size", "alpha"), ("fgsm.step_size", "alpha")).headings == (
        "pgd.step_size",
        "fgsm.step_size",
    )


@given(st.lists(st.tuples(WORDS, st.one_of(st.just(""), WORDS)), unique_by=lambda axis: axis[0]))
def test_headings_are_different_and_free(axes):
    headings = study(*axes).headings
    assert len(set(headings)) == len(axes)
    assert not OWN_COLUMNS & set(headings)
