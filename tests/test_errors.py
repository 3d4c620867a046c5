import pickle

import pytest

from rse_study.errors import InputError, InputErrors, MissingFile, NonFiniteLoss, Unavailable

ONE = InputError("what", where="where", rule="rule", remedy="remedy")
MISSING = MissingFile("no such file", where="where", remedy="remedy")
MISSING.part = "part"


def test_a_message_says_where_what_rule_and_remedy_and_travels_with_its_part():
    assert str(ONE) == "where: what: rule. remedy"
    assert str(InputError("what")) == "what"
    assert pickle.loads(pickle.dumps(MISSING)).part == "part"


@pytest.mark.parametrize(
    "error",
    [
        ONE,
        MISSING,
        InputErrors([ONE, MISSING]),
        NonFiniteLoss("why", 3),
        Unavailable("gone", "bring it back"),
    ],
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
