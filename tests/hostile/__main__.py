"""Try mutants of every kind of file, and print how each of them ended."""

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.hostile.execution import GOOD, OUTCOMES, Ended
from tests.hostile.trials import SHARES, attempts, prepare


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="number of mutants over all kinds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", choices=SHARES, default=list(SHARES))
    parser.add_argument(
        "--number", type=int, help="try the mutant of this number only, and print what it said"
    )
    parser.add_argument("--log", type=Path, help="a file for a JSON line about every mutant")
    given = parser.parse_args()
    log = given.log.open("w", encoding="utf-8") if given.log else None
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in given.kinds}
    largest = {kind: [0.0, 0.0] for kind in given.kinds}
    samples: Counter[str] = Counter()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        prepare(Path(name))
        for kind, number, ended in attempts(Path(name), given.kinds, given.count, given.seed, given.number):
            counts[kind][ended.outcome] += 1
            largest[kind] = [max(largest[kind][0], ended.seconds), max(largest[kind][1], ended.bytes)]
            if log:
                line = {"kind": kind, "number": number, "outcome": ended.outcome, **vars(ended)}
                log.write(json.dumps(line) + "\n")
                log.flush()
            if given.number is not None or (ended.outcome not in GOOD and _is_new(ended, samples)):
                print(_line(kind, number, ended), flush=True)
    print(
        f"\n{'kind':12}"
        + "".join(f"{outcome:>16}" for outcome in OUTCOMES)
        + f"{'slowest':>12}{'largest':>10}"
    )
    for kind in given.kinds:
        seconds, size = largest[kind]
        row = "".join(f"{counts[kind][outcome]:16}" for outcome in OUTCOMES)
        print(f"{kind:12}{row}{seconds:10.1f} s{size / 1e6:7.0f} MB")
    total = sum(counts.values(), Counter[str]())
    print(f"{'all':12}" + "".join(f"{total[outcome]:16}" for outcome in OUTCOMES))
    print(f"{total.total():,} mutants of seed {given.seed} in {time.monotonic() - began:.0f} s")
    return int(any(total[outcome] for outcome in OUTCOMES if outcome not in GOOD))


def _is_new(ended: Ended, samples: Counter[str]) -> bool:
    text = (ended.lacking or [ended.unclean] if ended.lacking or ended.unclean else ended.said or [""])[0]
    words = "".join(letter for letter in text[-60:] if letter.isalpha())
    samples[words] += 1
    return samples[words] == 1


def _line(kind: str, number: int, ended: Ended) -> str:
    said = ended.unclean or "; ".join(ended.lacking or ended.said)
    return f"{ended.outcome}: {kind} {number} ({ended.seconds:.1f} s): {said[:400]}"


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
