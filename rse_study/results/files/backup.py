"""The backup of a study's ledger: SQLite's own, packed, with gzip's checksum."""

import gzip
import sqlite3
import zlib
from contextlib import closing, suppress
from pathlib import Path

from rse_study.results.files.atomic import write_whole
from rse_study.results.files.schema import damaged, file_of

FILE_NAME = "ledger.backup.sqlite.gz"
BACKUP_SECONDS = 60.0
"""between two backups of a ledger that changes"""


def copy_of(ledger: sqlite3.Connection) -> bytes:
    """Return an open ledger as one file, even while it is written.

    Raises DamagedLedger if a page is broken.
    """
    with closing(sqlite3.connect(":memory:")) as memory:
        ledger.backup(memory)
        (said,) = memory.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise damaged(f"damaged: {said}", file_of(ledger))
        return memory.serialize()


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
