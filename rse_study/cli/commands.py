"""Table of all commands, each made from the file with its signature and body."""

import ast
import functools
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Command = Callable[..., int | None]
"""Arguments in, exit code out; None is 0."""
VERBS = Path(__file__).parent / "verbs"

COMMANDS = {
    "train": "train:train_trial",
    "validate": "validate:validate_study",
    "plan": "plan.show:show_plan",
    "run": "run:run_and_report",
    "status": "status.show:show_status",
    "dashboard": "dashboard:serve_dashboard",
    "replay": "replay:replay_cell",
    "report": "report.page:write_page",
    "archive": "archive:archive_study",
    "unpack": "unpack:unpack_study",
    "notebook": "notebook:write_notebook",
    "check": "check:check_study",
    "compare": "compare:compare_rows",
    "studies": "studies:list_studies",
    "evaluate": "evaluate.frozen:evaluate_frozen",
    "attack": "evaluate.attack:attack_model",
    "fine-tune": "evaluate.fine_tune:fine_tune_model",
    "export": "export:export_model",
    "init": "init:write_first_study",
    "doctor": "doctor:examine_installation",
    "data list": "data.listing:show_sets",
    "data verify": "data.listing:verify_sets",
    "data fetch": "data.fetching:fetch_sets",
    "cluster init": "cluster.files:write_cluster",
    "cluster render": "cluster.files:render_cluster",
    "cluster validate": "cluster.files:validate_cluster",
    "cluster submit": "cluster.jobs:submit_study",
    "cluster status": "cluster.jobs:show_cluster_status",
    "cluster logs": "cluster.jobs:show_log",
    "cluster fetch": "cluster.jobs:fetch_study",
    "cluster down": "cluster.jobs:end_jobs",
}
"""Module below `verbs` and function of each command, in the order of `rse-study --help`.

The function's docstring is the command's help. Its first line is the summary in that list, which has about 65
characters for it.
"""


def command_of(place: str) -> Command:
    """Return a command whose module is imported when it is called.

    Help and completion need the signature alone. It is made from the module's source, with the imports of the names in
    it, so that they do not wait for what the body imports (pandas, torch, Ray).
    """
    module, _, name = place.partition(":")
    path = (VERBS / module.replace(".", "/")).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (function,) = (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == name)
    function.body, function.returns = function.body[:1], None  # the docstring
    names = {one.id for one in ast.walk(function) if isinstance(one, ast.Name)}
    imports = [
        one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom) and _binds(one, names)
    ]
    scope: dict[str, Any] = {}
    exec(compile(ast.Module([*imports, function], []), str(path), "exec"), scope)

    @functools.wraps(scope[name])
    def command(**given: Any) -> int | None:
        code: int | None = getattr(import_module(f"rse_study.cli.verbs.{module}"), name)(**given)
        return code

    return command


def _binds(one: ast.Import | ast.ImportFrom, names: set[str]) -> bool:
    return any((alias.asname or alias.name) in names for alias in one.names)
