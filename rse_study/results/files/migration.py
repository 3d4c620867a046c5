"""Migration of older ledgers to today's tables: one script per version."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from rse_study.results.files.schema import SCHEMA_VERSION, TABLES

# v1 had searches only, each cell run by Ray Train; threads and workers were in the run's provenance.
FROM_1 = f"""
ALTER TABLE study RENAME TO old_study;
ALTER TABLE cell RENAME TO old_cell;
ALTER TABLE metric RENAME TO old_metric;
ALTER TABLE evaluation RENAME TO old_evaluation;
ALTER TABLE provenance RENAME TO old_provenance;
ALTER TABLE event RENAME TO old_event;
{TABLES}
INSERT INTO provenance SELECT * FROM old_provenance;
INSERT INTO event SELECT * FROM old_event;
INSERT INTO evaluation SELECT *, '', 0, 0 FROM old_evaluation;
INSERT INTO revision
    SELECT 1, coalesce((SELECT min(at) FROM provenance), ''), 'created',
        json_set(content, '$.kind', 'search', '$.num_cells', json_extract(content, '$.num_trials'))
    FROM old_study;
INSERT INTO cell
    SELECT identity, trial, seed, 'search', '', config, proposal, status, reason, started, ended, duration_s,
        1, 0, '{{}}'
    FROM old_cell;
INSERT INTO metric SELECT * FROM old_metric;
INSERT INTO attempt
    SELECT identity, 1, 'train',
        coalesce((SELECT json_extract(content, '$.workers') FROM provenance WHERE at <= started
            ORDER BY run DESC LIMIT 1), 1),
        coalesce((SELECT json_extract(content, '$.threads') FROM provenance WHERE at <= started
            ORDER BY run DESC LIMIT 1), 1),
        started, ended, status, reason
    FROM cell WHERE started != '' AND status != 'planned';
DROP TABLE old_metric;
DROP TABLE old_cell;
DROP TABLE old_study;
DROP TABLE old_evaluation;
DROP TABLE old_provenance;
DROP TABLE old_event;
"""
TABLE_NAMES = re.findall(r"CREATE TABLE (\w+)", TABLES)


def _made_anew(**selected: str) -> str:
    """Return a script that remakes every table; `selected` names the columns of old rows, by default `*`."""
    renamed = "".join(f"ALTER TABLE {name} RENAME TO old_{name};" for name in TABLE_NAMES)
    copied = "".join(
        f"INSERT INTO {name} SELECT {selected.get(name, '*')} FROM old_{name};" for name in TABLE_NAMES
    )
    dropped = "".join(f"DROP TABLE old_{name};" for name in reversed(TABLE_NAMES))  # referring tables first
    return f"{renamed}DROP INDEX one_cell_each;{TABLES}{copied}{dropped}"


WITHOUT_INTERVAL = "axis, evaluator, value, NULL, NULL, num_trials"
# v2 had evaluations of similarity only, which have no seed and skip nothing.
FROM_2 = _made_anew(evaluation="*, '', 0, 0", importance=WITHOUT_INTERVAL)
# v3 had no stage `path` and no intervals of importance.
FROM_3 = _made_anew(importance=WITHOUT_INTERVAL)
SCRIPTS = {1: FROM_1, 2: FROM_2, 3: FROM_3}
"""Scripts that migrate a ledger of version n to today's."""


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Migrate the tables from `version` to SCHEMA_VERSION in one transaction."""
    try:
        connection.executescript(
            f"BEGIN IMMEDIATE;{SCRIPTS[version]}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;"
        )
    except BaseException:
        connection.rollback()
        raise


def keep_copy(connection: sqlite3.Connection, path: Path, version: int) -> Path:
    """Keep a copy of the ledger before migration, as in ledger.v1.sqlite."""
    kept = path.with_name(f"{path.stem}.v{version}{path.suffix}")
    draft = path.with_name(f".{kept.name}")
    draft.unlink(missing_ok=True)
    with closing(sqlite3.connect(draft)) as copy:
        connection.backup(copy)
    draft.replace(kept)
    return kept
