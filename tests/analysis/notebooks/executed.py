"""A notebook's code cells run one after the other in this process, as a kernel would run them.

What a cell shows is kept: what it gives to `display`, its last expression, what it prints. No Jupyter is needed; what
a kernel adds (magics, widgets) no notebook of ours uses.
"""

import ast
import contextlib
import io
import json
from dataclasses import dataclass, field

import plotly.graph_objects as go
import plotly.io as pio


@dataclass
class Shown:
    """What a notebook has shown."""

    objects: list[object] = field(default_factory=list)
    printed: str = ""
    renderers: str = ""
    """plotly's at its end"""

    @property
    def figures(self):
        return [one for one in self.objects if isinstance(one, go.Figure)]


def execute(text):
    """Run a notebook, given as the text of its file."""
    shown, before = Shown(), pio.renderers.default
    names = {"__name__": "__main__", "display": lambda *objects: shown.objects.extend(objects)}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for cell in json.loads(text)["cells"]:
            if cell["cell_type"] == "code":
                _run("".join(cell["source"]), cell["id"], names, shown)
    shown.printed = printed.getvalue()
    shown.renderers, pio.renderers.default = pio.renderers.default, before
    return shown


def _run(source, name, names, shown):
    tree = ast.parse(source, filename=name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), names)
        shown.objects += [] if value is None else [value]
