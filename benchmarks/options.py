"""Options that all benchmarks share."""

import argparse
from pathlib import Path


def common_parser(name: str) -> argparse.ArgumentParser:
    """Return the parser of `python -m benchmarks.NAME` with the shared options."""
    made = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}")
    made.add_argument("--busy", action="store_true", help="take times on a busy machine too")
    made.add_argument("--wait", type=float, default=0.0, help="seconds to wait for a quiet machine")
    made.add_argument("--threads", type=int, default=1, help="of torch")
    made.add_argument("--seed", type=int, default=0, help="of weights and draws")
    made.add_argument("--out", type=Path, help="a JSON file with everything")
    return made
