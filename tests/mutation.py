"""The mutation score of the code that decides what runs, what is kept and what is concluded.

    python -m tests.mutation SEED NUMBER [--out FILE.csv]

Mutants are mutmut's (extra `mutation`; `tool.mutmut` of pyproject.toml). NUMBER of each package are drawn with SEED,
tested by the fast tests that reach them, and written to a table. Run it in a clone of its own: mutmut works in the
folder `mutants` and tests what it finds there.
"""

import argparse
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES = ("results", "search", "study.planning", "on_ray.queue")
KILLED = ("killed", "timeout", "segfault", "suspicious")
MUTMUT = (sys.executable, "-m", "mutmut", "run", "--max-children", "1")
OTHER_PROCESSES = re.compile(
    r"[(,] ?(cluster|browser)[,)]|subprocess|Popen|pseudo_terminal|running_cluster|tests.analysis.browser"
)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """As a plugin of pytest: leave out files whose tests start other processes, in which no mutant runs."""
    paths = {item.path for item in items}
    left_out = {path for path in paths if OTHER_PROCESSES.search(path.read_text(encoding="utf-8"))}
    config.hook.pytest_deselected(items=[item for item in items if item.path in left_out])
    items[:] = [item for item in items if item.path not in left_out]


def exit_codes() -> dict[str, int | None]:
    """mutmut's exit code of each mutant; None where it was not tested."""
    codes: dict[str, int | None] = {}
    for file in sorted(Path("mutants/rse_study").rglob("*.meta")):
        codes |= json.loads(file.read_text(encoding="utf-8"))["exit_code_by_key"]
    return codes


def package_of(mutant: str) -> str:
    return next(one for one in PACKAGES if mutant.startswith(f"rse_study.{one}."))


def draw(mutants: list[str], seed: int, number: int) -> list[str]:
    """So many of each package, without replacement."""
    strata = ([one for one in sorted(mutants) if package_of(one) == package] for package in PACKAGES)
    return [one for stratum in strata for one in random.Random(seed).sample(stratum, number)]


def main() -> None:
    import pandas as pd
    from mutmut.stats import status_by_exit_code

    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("seed", type=int)
    parser.add_argument("number", type=int, help="of each package")
    parser.add_argument("--out", type=Path, default=Path("mutation.csv"))
    asked = parser.parse_args()
    subprocess.run([*MUTMUT, "no_mutant_has_this_name"], stdout=subprocess.DEVNULL, check=False)  # makes them
    known = list(exit_codes())
    drawn = draw(known, asked.seed, asked.number)
    subprocess.run([*MUTMUT, *drawn], check=False)
    codes = exit_codes()
    rows = [(asked.seed, package_of(one), one, status_by_exit_code[codes[one]]) for one in drawn]
    found = pd.DataFrame(rows, columns=["seed", "package", "mutant", "status"])
    found.to_csv(asked.out, index=False)
    sizes = {package: sum(package_of(one) == package for one in known) for package in PACKAGES}
    print(scores(found, sizes).to_string(index=False))


def scores(found: Any, sizes: dict[str, int]) -> Any:
    """Killed of each package, with Wilson's 95% interval."""
    import pandas as pd
    from scipy.stats import binomtest

    rows = []
    for package, of in found["status"].isin(KILLED).groupby(found["package"]):
        low, high = binomtest(int(of.sum()), len(of)).proportion_ci(method="wilson")
        rows.append((package, sizes[package], len(of), int(of.sum()), of.mean(), low, high))
    return pd.DataFrame(rows, columns=["package", "mutants", "drawn", "killed", "score", "low", "high"])


if __name__ == "__main__":
    main()
