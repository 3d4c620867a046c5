PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE study (
    name TEXT PRIMARY KEY, content TEXT NOT NULL
) STRICT;
INSERT INTO study VALUES('old','{"name":"old","title":"","question":"Does it last?","objective":{"metric":"dev","direction":"maximize","label":"builtin dev, Spearman x100","evaluation":"builtin/dev/all"},"axes":[{"name":"rho","symbol":"rho","paths":["method.blend.rho"],"kind":"float","low":0.0,"high":1.0,"log":false,"choices":[]}],"num_trials":3,"search_seed":0,"resolved":{"name":"old"}}');
CREATE TABLE cell (
    identity TEXT PRIMARY KEY, trial INTEGER NOT NULL, seed INTEGER NOT NULL,
    config TEXT NOT NULL, proposal TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('planned', 'running', 'complete', 'failed', 'stopped_early')),
    reason TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL, duration_s REAL NOT NULL,
    UNIQUE (trial, seed)
) STRICT;
INSERT INTO cell VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,0,'{"a":0}','{"rho":0.0}','complete','','2026-11-21T09:21:12+00:00','2026-11-21T09:21:12+00:00',2.5);
INSERT INTO cell VALUES('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',1,0,'{"a":1}','{"rho":0.5}','failed','step 2: the loss is not finite','2026-11-21T09:21:12+00:00','2026-11-21T09:21:12+00:00',0.0);
INSERT INTO cell VALUES('cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',2,0,'{"a":2}','{"rho":1.0}','running','','2026-11-21T09:21:12+00:00','',0.0);
CREATE TABLE metric (
    cell TEXT NOT NULL REFERENCES cell (identity), t INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
    PRIMARY KEY (cell, t, name)
) STRICT, WITHOUT ROWID;
INSERT INTO metric VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,'dev',10.0);
INSERT INTO metric VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',3,'dev',12.5);
INSERT INTO metric VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',3,'loss',1.0);
INSERT INTO metric VALUES('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',0,'dev',NULL);
CREATE TABLE evaluation (
    subject TEXT NOT NULL, task TEXT NOT NULL, split TEXT NOT NULL, aggregation TEXT NOT NULL,
    value REAL NOT NULL, num_examples INTEGER NOT NULL, degenerate INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (subject, task, split, aggregation)
) STRICT, WITHOUT ROWID;
INSERT INTO evaluation VALUES('untrained','builtin','dev','all',32.799999999999997156,100,0,'');
CREATE TABLE provenance (
    run INTEGER PRIMARY KEY, at TEXT NOT NULL, content TEXT NOT NULL
) STRICT;
INSERT INTO provenance VALUES(1,'2026-11-21T09:21:12+00:00','{"threads":1}');
CREATE TABLE event (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, cell TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
INSERT INTO event VALUES(1,'2026-11-21T09:21:12+00:00','adopted','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','x');
COMMIT;
PRAGMA user_version = 1;
