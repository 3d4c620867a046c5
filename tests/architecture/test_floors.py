"""Who may import whom: what only a run can show. The contracts are in .importlinter, which `make floors` reads."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "ray", "optuna", "transformers")


LIGHT = (
    *("rse_study.spec", "rse_study.registry", "rse_study.yaml12", "rse_study.errors"),
    *("rse_study.results.files.ledger", "rse_study.results.reader", "rse_study.results.files.result_file"),
    *("analysis.report", "analysis.report", "analysis.scores"),
)
LOOK = """
import sys
from importlib import import_module
for module in {light}:
    import_module(module)
    if any(name in sys.modules for name in {heavy}):
        sys.exit(module)
"""


def test_reading_results_imports_nothing_heavy():
    code = LOOK.format(light=LIGHT, heavy=HEAVY)
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_importing_the_package_imports_nothing():
    code = (
        "import sys, rse_study\nprint(sorted(name for name in sys.modules if name.startswith('rse_study')))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "['rse_study']"
