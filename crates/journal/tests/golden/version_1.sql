-- A journal of version 1, as that version wrote it.
PRAGMA application_id = 1397904458;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
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
INSERT INTO "events" VALUES(2,'aaaaaaaaaaaa',2,1,1000,1,'task_admitted',X'05FFBD2EB4CA149C8E727D98C43F80D0','{"type":"task_admitted"}');
INSERT INTO "events" VALUES(3,'bbbbbbbbbbbb',1,1,1000,1,'task_started',X'223BFA4646769005C96823141025C72D','{"type":"task_started","job":{"task":"agent-bbbbbbbbbbbb","parent":"agent-aaaaaaaaaaaa","root":"agent-aaaaaaaaaaaa","title":"look at bbbbbbbbbbbb","prompt":"Where is it?","workspace":"/workspace","contract":"sortie","config":{"agent":"explore","model":{"route":"main","id":"offline"},"system":"You explore.","tools":["Read"],"grant":[],"limits":{},"depth":1,"chain":["explore"]}}}');
INSERT INTO "events" VALUES(4,'aaaaaaaaaaaa',3,1,1000,1,'child_started',X'018D61B95497AFA889AE8C523EBFD6F0','{"type":"child_started","call":"call_1","child":"agent-bbbbbbbbbbbb"}');
INSERT INTO "events" VALUES(5,'bbbbbbbbbbbb',2,1,1000,1,'noticed',X'05267771B53DCB08640B0CCEE431D249','{"type":"noticed","text":"naïve “quotes” and it''s fine\n"}');
INSERT INTO "events" VALUES(6,'bbbbbbbbbbbb',3,1,1000,1,'task_ended',X'91F97A913ADFCD50205313F506701782','{"type":"task_ended","outcome":{"task_id":"agent-bbbbbbbbbbbb","agent":"explore","status":"partial","text":"done","model":{"route":"main","id":"offline"},"usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"total_tokens":0,"turns":0,"tool_calls":0,"duration_ms":0}}}');
INSERT INTO "events" VALUES(7,'aaaaaaaaaaaa',4,1,1000,1,'child_ended',X'23AAD80A6A0C47071D03886B9F694182','{"type":"child_ended","call":"call_1","child":"agent-bbbbbbbbbbbb","child_leg":1}');
INSERT INTO "events" VALUES(8,'aaaaaaaaaaaa',5,1,1000,1,'task_ended',X'F7070B883C6129C9178BEA1E425A6F6B','{"type":"task_ended","outcome":{"task_id":"agent-aaaaaaaaaaaa","agent":"explore","status":"completed","text":"done","model":{"route":"main","id":"offline"},"usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"total_tokens":0,"turns":0,"tool_calls":0,"duration_ms":0}}}');
INSERT INTO "events" VALUES(9,'aaaaaaaaaaaa',6,2,2000,1,'noticed',X'0D7B448BD50C04D8DA8FE6108E661D98','{"type":"noticed","text":"a follow-up"}');
INSERT INTO "events" VALUES(10,'aaaaaaaaaaaa',7,2,3000,1,'task_ended',X'329EEB30951A97F32356992F590B3B74','{"type":"task_ended","outcome":{"task_id":"agent-aaaaaaaaaaaa","agent":"explore","status":"failed","text":"done","model":{"route":"main","id":"offline"},"usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0,"total_tokens":0,"turns":0,"tool_calls":0,"duration_ms":0}}}');
INSERT INTO "events" VALUES(11,'cccccccccccc',1,1,1000,1,'task_started',X'F68EA74E47EE0D9D304CECE0FB043D06','{"type":"task_started","job":{"task":"agent-cccccccccccc","root":"agent-cccccccccccc","title":"look at cccccccccccc","prompt":"Where is it?","workspace":"/workspace","contract":"sortie","config":{"agent":"explore","model":{"route":"main","id":"offline"},"system":"You explore.","tools":["Read"],"grant":[],"limits":{},"depth":0,"chain":["explore"]}}}');
INSERT INTO "events" VALUES(12,'cccccccccccc',2,1,4000,1,'noticed',X'7095F24FAB5C662A8BEF717C9ACE971D','{"type":"noticed","text":"still at it"}');
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
        last_sum      BLOB NOT NULL
    ) STRICT;
INSERT INTO "tasks" VALUES(1,'aaaaaaaaaaaa',NULL,'aaaaaaaaaaaa',0,'explore','look at aaaaaaaaaaaa','/workspace',1000,1,28378,3316218348483,2,7,3000,'failed',X'329EEB30951A97F32356992F590B3B74');
INSERT INTO "tasks" VALUES(2,'bbbbbbbbbbbb','aaaaaaaaaaaa','aaaaaaaaaaaa',1,'explore','look at bbbbbbbbbbbb','/workspace',1000,1,28378,3316218348483,1,3,1000,'partial',X'91F97A913ADFCD50205313F506701782');
INSERT INTO "tasks" VALUES(3,'cccccccccccc',NULL,'cccccccccccc',0,'explore','look at cccccccccccc','/workspace',1000,3,28378,3316218348483,1,2,4000,NULL,X'7095F24FAB5C662A8BEF717C9ACE971D');
CREATE INDEX tasks_by_parent ON tasks (parent);
COMMIT;
