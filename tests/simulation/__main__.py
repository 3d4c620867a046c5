"""Plays schedules of studies in which drivers, workers, nodes and storages fail.

    python -m tests.simulation --seed S [--schedules N] [--minutes M]

A seed that breaks a promise is named and played again, event by event; `--seed S` alone shows every event of one.
"""

import argparse
import sys
import time
import traceback

from tests.simulation.schedule import play


def main() -> int:
    """Play schedules; exit code 1 at the first that breaks a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--schedules", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=60.0, help="play no longer than this")
    parser.add_argument(
        "--all", action="store_true", help="go on after a failure, and name every failing seed"
    )
    asked = parser.parse_args()
    if asked.schedules == 1:
        return replay(asked.seed)
    begun, failing, seed, kills = time.monotonic(), [], asked.seed, Kills()
    while seed < asked.seed + asked.schedules and time.monotonic() - begun < 60 * asked.minutes:
        try:
            play(seed, kills.hear)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            failing.append(seed)
            print(
                f"seed {seed}: {str(error).splitlines()[0] if str(error) else type(error).__name__}",
                flush=True,
            )
            if not asked.all:
                replay(seed)
                break
        seed += 1
    seconds, number = time.monotonic() - begun, seed - asked.seed
    print(
        f"{number} schedules in {seconds:.0f} s ({number / seconds:.1f} a second), "
        f"in which {kills.number} drivers were killed; failing: {failing or 'none'}"
    )
    return 1 if failing else 0


class Kills:
    """Counts, in what schedules say, the drivers that were killed."""

    number = 0

    def hear(self, line: str) -> None:
        killed, *rest = line.split()[2:]
        self.number += killed.startswith("driver-") and rest == ["is", "killed", "(-9)"]


def replay(seed: int) -> int:
    """Play one schedule and show its events."""
    try:
        play(seed, print)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        print(f"seed {seed} breaks a promise: python -m tests.simulation --seed {seed}")
        return 1
    print(f"seed {seed} keeps every promise")
    return 0


if __name__ == "__main__":
    sys.exit(main())
