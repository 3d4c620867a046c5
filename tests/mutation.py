"""The mutation score of the code that decides what runs, what is kept and what is concluded.

    python -m tests.mutation SEED NUMBER [--out FILE.csv]

Mutants are mutmut's (`tool.mutmut` of pyproject.toml, which also says by which tests they may be killed). NUMBER of
each package are drawn with SEED, tested, and written to a table. Run it in a clone of its own: mutmut works in the
folder `mutants`.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

import pandas as pd
from mutmut.stats import status_by_exit_code
from scipy.stats import binomtest

PACKAGES = ("results", "search", "study.planning", "on_ray.queue")
KILLED = ("killed", "timeout", "segfault", "suspicious")
MUTMUT = (sys.executable, "-m", "mutmut", "run", "--max-children")
NOTHING = "no_mutant_has_this_name"


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


def table(mutants: list[str], seed: int) -> pd.DataFrame:
    codes = exit_codes()
    rows = [(seed, package_of(one), one, status_by_exit_code[codes[one]]) for one in mutants]
    return pd.DataFrame(rows, columns=["seed", "package", "mutant", "status"])


def summary(found: pd.DataFrame, sizes: dict[str, int]) -> pd.DataFrame:
    """Killed of each package, with Wilson's 95% interval."""
    killed = found["status"].isin(KILLED) | (found["status"] == "killed by hand")
    rows = []
    for package, of in killed.groupby(found["package"]):
        low, high = binomtest(int(of.sum()), len(of)).proportion_ci(method="wilson")
        rows.append((package, sizes[package], len(of), int(of.sum()), of.mean(), low, high))
    return pd.DataFrame(rows, columns=["package", "mutants", "drawn", "killed", "score", "low", "high"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation")
    parser.add_argument("seed", type=int)
    parser.add_argument("number", type=int, help="of each package")
    parser.add_argument("--out", type=Path, default=Path("mutation.csv"))
    asked = parser.parse_args()
    subprocess.run([*MUTMUT, "1", NOTHING], stdout=subprocess.DEVNULL, check=False)  # makes them
    known = list(exit_codes())
    drawn = draw(known, asked.seed, asked.number)
    subprocess.run([*MUTMUT, "2", *drawn], check=False)
    table(drawn, asked.seed).to_csv(asked.out, index=False)
    sizes = {package: sum(package_of(one) == package for one in known) for package in PACKAGES}
    print(summary(pd.read_csv(asked.out), sizes).to_string(index=False))


if __name__ == "__main__":
    main()
