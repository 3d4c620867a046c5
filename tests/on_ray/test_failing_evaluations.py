"""Scores that fail: the others count all the same, and what is wrong with the input is said in its own words."""

import os
from threading import Event

import pytest
import ray

from rse_study.errors import InputError
from rse_study.on_ray.nodes.launch import ray_session
from rse_study.on_ray.workers.evaluations import as_they_come
from rse_study.results.records import EvaluationRow

pytestmark = pytest.mark.xdist_group("ray")


@pytest.fixture(scope="module")
def ask(cluster):
    """Tasks of these kinds, on Ray."""

    def score(kind: str) -> list[EvaluationRow]:
        if kind == "bad":
            said = {"where": "its tokenizer", "rule": "pairs are framed", "remedy": "Give it a template"}
            raise InputError("no pairs", **said)
        if kind == "killed":
            os._exit(1)
        return [EvaluationRow(subject="start", task=kind, split="dev", value=1.0, num_examples=9)]

    with ray_session(address=cluster):
        yield lambda *kinds: [ray.remote(score).options(max_retries=0).remote(kind) for kind in kinds]


def scored(asked, closing: Event) -> tuple[set[str], Exception | None]:
    """What came, and what was raised at the end."""
    found = set()
    try:
        for rows in as_they_come(asked, closing):
            found |= {row.task for row in rows}
    except Exception as error:
        return found, error
    return found, None


def test_what_is_wrong_with_the_input_is_raised_as_itself_after_the_others(ask):
    found, error = scored(ask("bad", "one", "two"), Event())
    assert found == {"one", "two"}
    assert type(error) is InputError
    assert str(error) == "its tokenizer: no pairs: pairs are framed. Give it a template"


def test_a_killed_worker_hides_nobody(ask):
    found, error = scored(ask("killed", "one", "two"), Event())
    assert found == {"one", "two"}
    assert isinstance(error, ray.exceptions.WorkerCrashedError)


def test_nothing_is_waited_for_where_the_runtime_closes(ask):
    closing = Event()
    closing.set()
    assert scored(ask("one"), closing) == (set(), None)
