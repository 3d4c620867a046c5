"""Programs of others: what they answer, what they complain about, and that they may be missing."""

import sys

import pytest

from rse_study.cluster.program import ProgramResult, call
from rse_study.errors import InputError
from tests.cases import cases


@cases(
    ("err", "complaint"),
    [
        ("", "exit code 1"),
        ("first\nlast\n", "last"),
        ("Traceback\n  File\nValueError: used id\n.\n.\n", "ValueError: used id"),
        (
            "ray.exceptions.AuthenticationError: no token\n\nEnsure that\n",
            "ray.exceptions.AuthenticationError: no token",
        ),
    ],
)
def test_a_complaint_is_one_line(err, complaint):
    assert ProgramResult(1, "", err).complaint == complaint


def test_a_program_that_does_not_end_is_given_up():
    with pytest.raises(InputError, match="no answer within 0 s"):
        call([sys.executable, "-c", "import time; time.sleep(60)"], remedy="", seconds=0.3)
