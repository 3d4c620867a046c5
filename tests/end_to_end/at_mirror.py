"""The command line, with GitHub's addresses at a mirror: python -m tests.end_to_end.at_mirror ADDRESS [ARGS]."""

import sys

from rse_study.cli.app import app
from rse_study.data import download

if __name__ == "__main__":
    address = sys.argv.pop(1)
    download.GITHUB_RAW, download.GITHUB_ARCHIVES = f"{address}/raw", f"{address}/archives"
    app(prog_name="rse-study")
