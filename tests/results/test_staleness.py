import pandas as pd

from rse_study.results.bit_equality import describe_stale

OLD, NEW = {"torch": "2.12", "numpy": "2.4"}, {"torch": "2.13", "numpy": "2.4"}


def cells(*rows):
    return pd.DataFrame(rows, columns=["identity", "status", "provenance"])


def test_cells_made_with_other_packages_than_the_newest_run_are_stale_and_counted():
    frame = cells(
        ("a", "complete", {"packages": OLD}), ("b", "complete", {"packages": NEW}),
        ("c", "failed", {"packages": OLD}), ("d", "planned", {}),
    )  # fmt: skip
    found = describe_stale(frame, [{"packages": OLD}, {"packages": NEW}])
    assert found == "1 stale cell: 1 made with torch 2.12 (now 2.13)."
    frame = cells(*((name, "complete", {"packages": OLD}) for name in "ab"))
    text = describe_stale(frame, [{"packages": NEW | {"numpy": "2.5"}}])
    assert text == "2 stale cells: 2 made with numpy 2.4 (now 2.5); 2 made with torch 2.12 (now 2.13)."
    frame = cells(("a", "complete", {}), ("b", "complete", {"packages": OLD}))
    assert describe_stale(frame, []) == ""
    assert describe_stale(frame, [{"at": "then"}]) == ""
