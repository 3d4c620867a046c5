"""The work of one more cell, in steps of SQLite's virtual machine, in a small and in a large study."""

from rse_study.results.files.ledger import Ledger
from tests.results.world import HERE, STUDY, cell_of, result_of, score_of

EVERY = 10  # steps of the machine between two counts


def steps_of(ledger, write):
    """How many steps of the machine a write takes."""
    count = [0]

    def one_more():
        count[0] += EVERY

    ledger._db.set_progress_handler(one_more, EVERY)
    write()
    ledger._db.set_progress_handler(None, 0)
    return count[0]


def life_of_a_cell(ledger, cell):
    """The writes of a cell from its start to its scores."""
    return {
        "plan": lambda: ledger.plan([cell]),
        "start": lambda: ledger.start(cell.identity, **HERE),
        "point": lambda: ledger.record_progress(cell.identity, 10, {"dev": 1.0}),
        "result": lambda: ledger.record_result(result_of(cell, [1.0])),
        "scores": lambda: ledger.record_evaluations([score_of(cell.identity, 1.0)]),
    }


def test_a_cell_of_a_large_study_costs_its_ledger_no_more_than_one_of_a_small_study(tmp_path):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(STUDY)
        steps = []
        for known, last in ((range(10), 10), (range(11, 200), 200)):
            for trial in known:
                for write in life_of_a_cell(ledger, cell_of(trial)).values():
                    write()
            writes = life_of_a_cell(ledger, cell_of(last))
            steps.append({name: steps_of(ledger, write) for name, write in writes.items()})
    small, large = steps
    assert {name: large[name] for name in large if large[name] > 1.2 * small[name] + EVERY} == {}
