"""The backup of a study's ledger, and its return in place of a lost one."""

import gzip
import sqlite3
import zlib
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from rse_study.errors import InputError
from rse_study.results.files import schema
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.connect import has_ledger, lock_study, open_study, parts_of
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.result_file import read_result

FILE_NAME = "ledger.backup.sqlite.gz"
BACKUP_SECONDS = 60.0
"""between two backups of a ledger that changes"""


def write_backup(study_dir: Path, ledger: bytes) -> Path:
    """Replace the backup by this ledger, atomically."""
    return write_whole(study_dir / FILE_NAME, gzip.compress(ledger, compresslevel=1))


def read_backup(study_dir: Path) -> bytes | None:
    """Return the ledger in a study's backup; None if it is missing or damaged."""
    with suppress(OSError, EOFError, zlib.error):
        content = gzip.decompress((study_dir / FILE_NAME).read_bytes())
        return content if is_ledger(content) else None
    return None


def is_ledger(content: bytes) -> bool:
    """Whether a file's content is a ledger of any version without a broken page."""
    with closing(sqlite3.connect(":memory:")) as memory, suppress(sqlite3.DatabaseError):
        version = attach_backup(memory, content)
        return version > 0 and bool(memory.execute("PRAGMA backup.quick_check(1)").fetchone() == ("ok",))
    return False


def attach_backup(ledger: sqlite3.Connection, backup: bytes) -> int:
    """Let queries of a ledger read `backup.TABLE`; return the backup's schema version."""
    ledger.execute("ATTACH ':memory:' AS backup")
    without_log = backup[:18] + b"\1\1" + backup[20:]  # the file format's versions: memory has no WAL
    ledger.deserialize(without_log, name="backup")
    return int(ledger.execute("PRAGMA backup.user_version").fetchone()[0])


ENDED = "('complete', 'failed', 'stopped_early')"
UNCHANGED = (
    "(SELECT identity FROM backup.cell JOIN main.cell USING (identity, stage, status)"
    f" WHERE backup.cell.status IN {ENDED})"
)
LASTING = (
    "SELECT * FROM {}.revision",
    "SELECT * FROM {}.provenance",
    "SELECT * FROM {}.event",
    "SELECT * FROM {}.rung",
    "SELECT * FROM {}.attempt WHERE outcome != 'running'",
    "SELECT identity, seed, config, proposal FROM {}.cell",
    "SELECT identity, label, reason, started, ended, duration_s, provenance FROM {}.cell"
    f" WHERE identity IN {UNCHANGED}",
    f"SELECT * FROM {{}}.metric WHERE cell IN {UNCHANGED}",
    "SELECT subject, task, split, aggregation, preset FROM {}.evaluation",
)
"""rows that a ledger keeps as they are"""
SCORES = """
SELECT subject FROM evaluation AS ours JOIN backup.evaluation AS before
    USING (subject, task, split, aggregation, preset, fingerprint)
    WHERE (ours.value, ours.num_examples, ours.degenerate) IS NOT (before.value, before.num_examples, before.degenerate)
"""
NEWLY_ENDED = f"SELECT identity FROM cell WHERE status IN {ENDED} AND identity NOT IN {UNCHANGED}"


def is_lost(study_dir: Path) -> bool:
    """Whether a ledger is missing or empty, and has a backup."""
    return (study_dir / FILE_NAME).exists() and not has_ledger(study_dir)


def rebuild(study_dir: Path) -> Path:
    """Set a ledger aside, put its backup in its place, and return its path.

    The study's next run enters the results that are newer, and measures lost scores again. Without a backup its
    ledger begins anew. Raises InputError while a live process holds the study.
    """
    path = schema.ledger_path(study_dir)
    now = f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
    aside, stored = path.with_name(f"{path.name}.{now}"), study_dir / FILE_NAME
    with closing(lock_study(study_dir)):
        for part, moved in zip(parts_of(path), parts_of(aside), strict=True):
            if part.exists():
                part.replace(moved)
        if (backup := read_backup(study_dir)) is not None:
            write_whole(path, backup)
        elif stored.exists():
            stored.replace(stored.with_name(f"{stored.name}.{now}"))
    return path


def recover(study_dir: Path) -> str:
    """Put the backup in the place of a lost or damaged ledger; say so, or nothing."""
    damage = damage_of(study_dir)
    if not damage:
        return ""
    rebuild(study_dir)
    if has_ledger(study_dir):
        return f"the ledger was {damage}: the run goes on from its backup and the results on disk"
    return f"the ledger was {damage}, without a backup that can be read: the run goes on from the results on disk"


def damage_of(study_dir: Path) -> str:
    """Return why a ledger must be set aside, or nothing."""
    backup, path = read_backup(study_dir), schema.ledger_path(study_dir)
    try:
        if not has_ledger(study_dir):
            return "missing or empty" if (study_dir / FILE_NAME).exists() else ""
        with closing(open_study(study_dir)) as ledger:
            _require_whole(ledger, path)
            if backup is not None and attach_backup(ledger, backup) == schema.SCHEMA_VERSION:
                _require_unchanged(ledger, study_dir)
    except (schema.DamagedLedger, sqlite3.DatabaseError) as error:
        damage = schema.failure_of(error, path) if isinstance(error, sqlite3.DatabaseError) else error
        if isinstance(damage, schema.DamagedLedger):
            return f"damaged ({damage.what})"
        raise damage or error from None
    return ""


def _require_whole(ledger: sqlite3.Connection, path: Path) -> None:
    (said,) = ledger.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok" or ledger.execute("PRAGMA foreign_key_check").fetchone():
        raise schema.damaged(said, path)
    rows = LedgerQueries(ledger)
    for read in (rows.study, rows.cells, rows.attempts, rows.rungs, rows.evaluations, rows.provenance):
        read()


def _require_unchanged(ledger: sqlite3.Connection, study_dir: Path) -> None:
    """Compare a ledger with its backup, and cells that have ended since with their results."""
    for query in (*(f"{one.format('backup')} EXCEPT {one.format('main')}" for one in LASTING), SCORES):
        if ledger.execute(query).fetchone():
            raise schema.damaged("it is not what its backup says", study_dir)
    rows = LedgerQueries(ledger)
    for (identity,) in ledger.execute(NEWLY_ENDED).fetchall():
        try:
            result = read_result(schema.cell_folder(study_dir, identity))
        except InputError:  # the cell ended without a result
            continue
        cell = rows.cell(identity)
        # SQLite knows no -0.0, so that 0.0 is added to both.
        history = [((row.t, row.name), row.value + 0.0) for row in rows.history(identity)]
        points = {
            (point.t, name): value + 0.0 for point in result.history for name, value in point.metrics.items()
        }
        theirs = result.config, result.provenance, result.duration_s, repr(sorted(points.items()))
        ours = cell.config, cell.provenance, cell.duration_s, repr(history)
        if result.status == cell.status and theirs != ours:
            raise schema.damaged(f"cell {identity[:16]} is not what its result says", study_dir)
