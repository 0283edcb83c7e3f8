-- A journal of version 2, as that version wrote it.
PRAGMA application_id = 1397904458;
PRAGMA user_version = 2;
BEGIN TRANSACTION;
CREATE TABLE commands (
        number INTEGER PRIMARY KEY,
        task   TEXT NOT NULL,
        mark   INTEGER NOT NULL,
        body   TEXT NOT NULL
    ) STRICT;
INSERT INTO "commands" VALUES(1,'cccccccccccc',-5559753675845090434,'{"type":"stop","task":"agent-cccccccccccc"}');
CREATE TABLE events (
        position INTEGER PRIMARY KEY, -- order of writing, over all tasks
        task     TEXT NOT NULL,
        seq      INTEGER NOT NULL,
        leg      INTEGER NOT NULL,
        time     INTEGER NOT NULL,
        version  INTEGER NOT NULL,
        kind     TEXT NOT NULL,
        sum      BLOB NOT NULL,
        body     TEXT NOT NULL,
        UNIQUE (task, seq)
    ) STRICT;
INSERT INTO "events" VALUES(1,'aaaaaaaaaaaa',1,1,1000,1,'task_started',X'C346F7C86ED45FD51B1AA027F4B7B988','{"type":"task_started","job":{"task":"agent-aaaaaaaaaaaa","root":"agent-aaaaaaaaaaaa","title":"look at aaaaaaaaaaaa","prompt":"Where is it?","workspace":"/workspace","contract":"sortie","config":{"agent":"explore","model":{"route":"main","id":"offline"},"system":"You explore.","tools":["Read"],"grant":[],"limits":{},"depth":0,"chain":["explore"]}}}');
INSERT INTO "events" VALUES(2,'bbbbbbbbbbbb',1,1,1000,1,'task_started',X'EDF9ED6A07026D72187BAA7A08EA3416','{"type":"task_started","job":{"task":"agent-bbbbbbbbbbbb","parent":"agent-aaaaaaaaaaaa","root":"agent-aaaaaaaaaaaa","title":"look at bbbbbbbbbbbb","prompt":"Where is it?","workspace":"/workspace","contract":"sortie","config":{"agent":"explore","model":{"route":"main","id":"offline"},"system":"You explore.","tools":["Read"],"grant":[],"limits":{},"depth":1,"chain":["explore"]}}}');
INSERT INTO "events" VALUES(3,'aaaaaaaaaaaa',2,1,1000,1,'child_started',X'6D6CB16CABD309525FEE83A08B9F9977','{"type":"child_started","call":"call_1","child":"agent-bbbbbbbbbbbb"}');
INSERT INTO "events" VALUES(4,'bbbbbbbbbbbb',2,1,3000,1,'task_ended',X'B2344AEDCD4A36DA4EB8CCF0125D445A','{"type":"task_ended","outcome":{"task_id":"agent-bbbbbbbbbbbb","agent":"explore","status":"completed","text":"done","model":{"route":"main","id":"offline"},"usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"total_tokens":0,"turns":0,"tool_calls":0,"duration_ms":1900}}}');
INSERT INTO "events" VALUES(5,'aaaaaaaaaaaa',3,1,3000,1,'child_ended',X'EE68D21B16B54D4AB6EBE79BD15D47A3','{"type":"child_ended","call":"call_1","child":"agent-bbbbbbbbbbbb","child_leg":1}');
INSERT INTO "events" VALUES(6,'aaaaaaaaaaaa',4,1,4000,1,'task_ended',X'B99437DB932F306C0D22D43CE64E8799','{"type":"task_ended","outcome":{"task_id":"agent-aaaaaaaaaaaa","agent":"explore","status":"completed","text":"done","model":{"route":"main","id":"offline"},"usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"total_tokens":0,"turns":0,"tool_calls":0,"duration_ms":2950}}}');
INSERT INTO "events" VALUES(7,'aaaaaaaaaaaa',5,2,60000,1,'task_resumed',X'F4E4533FA77363914C1C083CBCD8F0F4','{"type":"task_resumed","config":{"agent":"explore","model":{"route":"main","id":"offline"},"system":"You explore.","tools":["Read"],"grant":[],"limits":{},"depth":0,"chain":["explore"]}}');
INSERT INTO "events" VALUES(8,'aaaaaaaaaaaa',6,2,62000,1,'task_ended',X'BB0BC6A35BD6DD90A69ACEB5F9F72380','{"type":"task_ended","outcome":{"task_id":"agent-aaaaaaaaaaaa","agent":"explore","status":"failed","text":"done","model":{"route":"main","id":"offline"},"usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"total_tokens":0,"turns":0,"tool_calls":0,"duration_ms":0}}}');
INSERT INTO "events" VALUES(9,'cccccccccccc',1,1,1000,1,'task_started',X'4D4CD9A263561FA7BFC8427C7002C8EC','{"type":"task_started","job":{"task":"agent-cccccccccccc","root":"agent-cccccccccccc","title":"look at cccccccccccc","prompt":"Where is it?","workspace":"/workspace","contract":"sortie","config":{"agent":"explore","model":{"route":"main","id":"offline"},"system":"You explore.","tools":["Read"],"grant":[],"limits":{},"depth":0,"chain":["explore"]}}}');
INSERT INTO "events" VALUES(10,'cccccccccccc',2,1,2000,1,'task_admitted',X'8A7FD3D5835A2A1273FFC5C9D47B9FBF','{"type":"task_admitted"}');
INSERT INTO "events" VALUES(11,'cccccccccccc',3,1,5000,1,'task_resumed',X'F760147DB1ECF5FAD04A314F5A45ABD1','{"type":"task_resumed","config":{"agent":"explore","model":{"route":"main","id":"offline"},"system":"You explore.","tools":["Read"],"grant":[],"limits":{},"depth":0,"chain":["explore"]}}');
INSERT INTO "events" VALUES(12,'cccccccccccc',4,1,90500,1,'noticed',X'99655822920E79C69DC09AAC0B60AFA8','{"type":"noticed","text":"still at it"}');
CREATE TABLE tasks (
        number        INTEGER PRIMARY KEY, -- order of starting
        task          TEXT NOT NULL UNIQUE,
        parent        TEXT,
        root          TEXT NOT NULL,
        depth         INTEGER NOT NULL,
        agent         TEXT NOT NULL,
        title         TEXT NOT NULL,
        workspace     TEXT NOT NULL,
        started       INTEGER NOT NULL,
        attempt       INTEGER NOT NULL,
        owner_pid     INTEGER NOT NULL,
        owner_started INTEGER NOT NULL,
        leg           INTEGER NOT NULL,
        last_seq      INTEGER NOT NULL,
        updated       INTEGER NOT NULL,
        status        TEXT, -- null until the leg has ended
        log_sum      BLOB NOT NULL
    , ended_seq INTEGER, children INTEGER NOT NULL DEFAULT 0, going INTEGER NOT NULL DEFAULT 0, mark INTEGER NOT NULL DEFAULT 0, owner_space INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "tasks" VALUES(1,'aaaaaaaaaaaa',NULL,'aaaaaaaaaaaa',0,'explore','look at aaaaaaaaaaaa','/workspace',1000,1,23435,3316224501938,2,6,62000,'failed',X'BB0BC6A35BD6DD90A69ACEB5F9F72380',6,1,0,-6074494273613847242,0);
INSERT INTO "tasks" VALUES(2,'bbbbbbbbbbbb','aaaaaaaaaaaa','aaaaaaaaaaaa',1,'explore','look at bbbbbbbbbbbb','/workspace',1000,1,23435,3316224501938,1,2,3000,'completed',X'B2344AEDCD4A36DA4EB8CCF0125D445A',2,0,0,-3476331957597498007,0);
INSERT INTO "tasks" VALUES(3,'cccccccccccc',NULL,'cccccccccccc',0,'explore','look at cccccccccccc','/workspace',1000,2,23435,3316224501938,1,4,90500,NULL,X'99655822920E79C69DC09AAC0B60AFA8',NULL,0,0,-3011096008528890610,0);
CREATE TABLE totals (
        tasks    INTEGER NOT NULL, -- rows of tasks
        open     INTEGER NOT NULL, -- those of them whose leg has not ended
        number   INTEGER NOT NULL, -- the last that a task was given
        position INTEGER NOT NULL, -- the last that an event was given
        command  INTEGER NOT NULL, -- the last number that a command was given
        mark     INTEGER NOT NULL
    ) STRICT;
INSERT INTO "totals" VALUES(3,1,3,12,1,7756799198558955572);
CREATE INDEX tasks_by_parent ON tasks (parent);
CREATE INDEX tasks_open ON tasks (number) WHERE status IS NULL;
COMMIT;
