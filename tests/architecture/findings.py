"""How the rules of this folder fail: all findings at once, a line each."""

from collections.abc import Iterable


def require_none(findings: Iterable[str]) -> None:
    """Fail with every finding: `path:line: what, rule, remedy`."""
    lines = list(findings)
    assert not lines, "\n".join([f"{len(lines)} findings", *lines])
