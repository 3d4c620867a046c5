"""What the next run makes of a cell's status."""

from rse_study.results.cell_state import status_for_next_run
from rse_study.results.files.schema import cell_folder
from rse_study.results.reader import Reader
from rse_study.results.records import Status
from rse_study.search.state import SearchState
from tests.cases import cases

IDENTITY = "a" * 64


@cases("has_result", [True, False])
@cases("status", Status.__args__)
def test_a_cell_that_failed_without_a_result_alone_is_planned_again(tmp_path, status, has_result):
    if has_result:
        folder = cell_folder(tmp_path, IDENTITY)
        folder.mkdir(parents=True)
        (folder / "result.json").write_text("{}")
    expected = "planned" if status == "failed" and not has_result else status
    assert status_for_next_run(tmp_path, IDENTITY, status) == expected


def test_counts_add_up_whatever_became_of_the_cells(searched_dir):
    with Reader(searched_dir) as reader:
        before = SearchState.read(reader).counts
        cells = reader.cells()
    assert before["failed"] == 1
    failed = cells.loc[cells["status"] == "failed", "identity"].item()
    (cell_folder(searched_dir, failed) / "result.json").unlink()
    with Reader(searched_dir) as reader:
        after = SearchState.read(reader).counts
    assert after == before | {"failed": 0, "missing": before["missing"] + 1}
    assert after["planned"] == sum(after.values()) - after["planned"]
