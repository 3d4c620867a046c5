"""Reports as files, one of them long."""

import pytest

from analysis.report import write_report
from tests.analysis import tabled


def many_rows(folder):
    """60 rows on 4 seeds beside a paper's table; one cell failed, one is still to run."""
    names = [
        f"without the weakening masks of the first layers, batch 128, variant number {n}" for n in range(58)
    ]
    rows = {name: tuple(60 + n % 7 + seed / 3 for seed in range(4)) for n, name in enumerate(names)}
    rows[names[3]] = (*rows[names[3]][:3], tabled.FAILED)
    rows[names[9]] = (*rows[names[9]][:3], tabled.PLANNED)
    base = {"SimCSE": (61.0, 61.5, 60.7, 61.2), "RobustSentEmbed": (63.0, 63.9, 62.2, 63.5)}
    paper = {"table": "rse-table1", "scale": "mini"}
    tabled.make(folder, base | rows, baseline="SimCSE", paper=paper, evaluations=("attack-mr/pwws",))
    scores = {"attack-mr/pwws/success_rate": dict.fromkeys((*base, *names), (50.0, 52.0, 51.0, None))}
    return tabled.add(folder, scores)


@pytest.fixture(scope="session")
def written(pages, tmp_path_factory):
    """The reports of a search, of a grid, and of a grid of many rows with long names."""
    folder = tmp_path_factory.mktemp("many")
    return pages | {"many": write_report(many_rows(folder / "many"), folder / "many.html")}
