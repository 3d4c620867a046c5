BEGIN TRANSACTION;
CREATE TABLE attempt (
    cell TEXT NOT NULL REFERENCES cell (identity), number INTEGER NOT NULL,
    executor TEXT NOT NULL, workers INTEGER NOT NULL, threads INTEGER NOT NULL,
    started TEXT NOT NULL, ended TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('running', 'complete', 'failed', 'stopped_early', 'lost')),
    reason TEXT NOT NULL,
    PRIMARY KEY (cell, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "attempt" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',1,'train',1,1,'2026-11-21T09:21:12+00:00','2026-11-21T09:21:12+00:00','complete','');
INSERT INTO "attempt" VALUES('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',1,'train',1,1,'2026-11-21T09:21:12+00:00','2026-11-21T09:21:12+00:00','failed','step 2: the loss is not finite');
INSERT INTO "attempt" VALUES('cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',1,'train',1,1,'2026-11-21T09:21:12+00:00','','running','');
CREATE TABLE cell (
    identity TEXT PRIMARY KEY, trial INTEGER NOT NULL, seed INTEGER NOT NULL,
    stage TEXT NOT NULL CHECK (stage IN ('grid', 'search', 'confirm')), label TEXT NOT NULL,
    config TEXT NOT NULL, proposal TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('planned', 'running', 'complete', 'failed', 'stopped_early')),
    reason TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL, duration_s REAL NOT NULL,
    revision INTEGER NOT NULL, retired INTEGER NOT NULL, provenance TEXT NOT NULL
) STRICT;
INSERT INTO "cell" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,0,'search','','{"a":0}','{"rho":0.0}','complete','','2026-11-21T09:21:12+00:00','2026-11-21T09:21:12+00:00',2.5,1,0,'{}');
INSERT INTO "cell" VALUES('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',1,0,'search','','{"a":1}','{"rho":0.5}','failed','step 2: the loss is not finite','2026-11-21T09:21:12+00:00','2026-11-21T09:21:12+00:00',0.0,1,0,'{}');
INSERT INTO "cell" VALUES('cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',2,0,'search','','{"a":2}','{"rho":1.0}','running','','2026-11-21T09:21:12+00:00','',0.0,1,0,'{}');
CREATE TABLE evaluation (
    subject TEXT NOT NULL, task TEXT NOT NULL, split TEXT NOT NULL, aggregation TEXT NOT NULL,
    value REAL, num_examples INTEGER NOT NULL, degenerate INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (subject, task, split, aggregation)
) STRICT, WITHOUT ROWID;
INSERT INTO "evaluation" VALUES('untrained','builtin','dev','all',32.8,100,0,'');
CREATE TABLE event (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, cell TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
INSERT INTO "event" VALUES(1,'2026-11-21T09:21:12+00:00','adopted','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa','x');
CREATE TABLE importance (
    axis TEXT NOT NULL, evaluator TEXT NOT NULL, value REAL, num_trials INTEGER NOT NULL,
    PRIMARY KEY (axis, evaluator)
) STRICT, WITHOUT ROWID;
CREATE TABLE metric (
    cell TEXT NOT NULL REFERENCES cell (identity), t INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
    PRIMARY KEY (cell, t, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "metric" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',0,'dev',10.0);
INSERT INTO "metric" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',3,'dev',12.5);
INSERT INTO "metric" VALUES('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',3,'loss',1.0);
INSERT INTO "metric" VALUES('bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb',0,'dev',NULL);
CREATE TABLE provenance (
    run INTEGER PRIMARY KEY, at TEXT NOT NULL, content TEXT NOT NULL
) STRICT;
INSERT INTO "provenance" VALUES(1,'2026-11-21T09:21:12+00:00','{"threads":1}');
CREATE TABLE revision (
    number INTEGER PRIMARY KEY, at TEXT NOT NULL, change TEXT NOT NULL, study TEXT NOT NULL
) STRICT;
INSERT INTO "revision" VALUES(1,'2026-11-21T09:21:12+00:00','created','{"name":"old","title":"","question":"Does it last?","objective":{"metric":"dev","direction":"maximize","label":"builtin dev, Spearman x100","evaluation":"builtin/dev/all"},"axes":[{"name":"rho","symbol":"rho","paths":["method.blend.rho"],"kind":"float","low":0.0,"high":1.0,"log":false,"choices":[]}],"num_trials":3,"search_seed":0,"resolved":{"name":"old"},"kind":"search","num_cells":3}');
CREATE TABLE rung (
    cell TEXT NOT NULL REFERENCES cell (identity), t INTEGER NOT NULL, value REAL,
    verdict TEXT NOT NULL CHECK (verdict IN ('continue', 'stop')),
    PRIMARY KEY (cell, t)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX one_cell_each ON cell (trial, seed) WHERE NOT retired;
COMMIT;
PRAGMA user_version = 2;
