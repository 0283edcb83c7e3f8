//! The schema of the file: its version, and the steps that migrate an older file.
//!
//! The version lives in SQLite's `user_version`; `application_id` tells our files from those of other programs.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::database::{totals, working_time_migration};

/// "SRTJ", in the header of every journal.
pub(crate) const APPLICATION: i32 = i32::from_be_bytes(*b"SRTJ");

/// All migration steps: index `n` leads from version `n` to version `n + 1`. Never edited once shipped.
pub(crate) const STEPS: &[Step] = &[
    Step { sql: VERSION_1, then: None },
    Step { sql: VERSION_2, then: Some(totals::mark_everything) },
    Step { sql: VERSION_3, then: Some(working_time_migration::look_up) },
    Step { sql: VERSION_4, then: None },
];

/// One migration step: statements, and code for what they cannot do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) sql: &'static str,
    pub(crate) then: Option<fn(&Transaction<'_>) -> rusqlite::Result<()>>,
}

/// Ids are stored as their twelve letters, times as milliseconds since 1970, checksums as 16 bytes. The body comes last
/// in `events`, so that reading a checksum never walks through a long body.
const VERSION_1: &str = "
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
    CREATE INDEX tasks_by_parent ON tasks (parent);
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
";

/// Adds checksums for task rows, row counts so that a lost row shows, commands, and pruning.
///
/// The renamed column keeps a program that knows only version 1, and has the file open, from writing rows without
/// checksums: its statements fail.
const VERSION_2: &str = "
    ALTER TABLE tasks RENAME COLUMN last_sum TO log_sum;
    ALTER TABLE tasks ADD COLUMN ended_seq INTEGER; -- the newest ending; null if there is none
    ALTER TABLE tasks ADD COLUMN children INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE tasks ADD COLUMN going INTEGER NOT NULL DEFAULT 0; -- 1 while it is being pruned
    ALTER TABLE tasks ADD COLUMN mark INTEGER NOT NULL DEFAULT 0; -- its checksum
    ALTER TABLE tasks ADD COLUMN owner_space INTEGER NOT NULL DEFAULT 0; -- its owner's pid namespace; 0 if not known
    UPDATE tasks SET ended_seq =
        (SELECT max(seq) FROM events WHERE events.task = tasks.task AND events.kind = 'task_ended'),
        children = (SELECT count(*) FROM tasks child WHERE child.parent = tasks.task);
    CREATE INDEX tasks_open ON tasks (number) WHERE status IS NULL;
    CREATE TABLE totals (
        tasks    INTEGER NOT NULL, -- rows of tasks
        open     INTEGER NOT NULL, -- those of them whose leg has not ended
        number   INTEGER NOT NULL, -- the last that a task was given
        position INTEGER NOT NULL, -- the last that an event was given
        command  INTEGER NOT NULL, -- the last number that a command was given
        mark     INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE commands (
        number INTEGER PRIMARY KEY,
        task   TEXT NOT NULL,
        mark   INTEGER NOT NULL,
        body   TEXT NOT NULL
    ) STRICT;
";

/// Adds the working time of each task, so that a list need not read the logs. A column is renamed for the reason given
/// at version 2.
const VERSION_3: &str = "
    ALTER TABLE tasks RENAME COLUMN mark TO row_mark;
    ALTER TABLE tasks ADD COLUMN worked INTEGER NOT NULL DEFAULT 0; -- before the process that had it last got to work
    ALTER TABLE tasks ADD COLUMN admitted INTEGER; -- when that one did; null if it has not, or if the leg has ended
    ALTER TABLE tasks ADD COLUMN heard INTEGER NOT NULL DEFAULT 0; -- the last event of whoever had it
";

/// No table changes. From this version on, facts can shorten a conversation or add to it. A program that does not know
/// them would skip them and resume a task with a different conversation. It refuses the file instead.
const VERSION_4: &str = "";

/// Result of looking at a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// The file is still empty.
    Empty,
    Ours {
        version: u32,
    },
    Foreign,
}

pub(crate) fn format(connection: &Connection) -> rusqlite::Result<Format> {
    let query = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
        FROM pragma_application_id, pragma_user_version";
    connection.query_row(query, (), |row| {
        Ok(match (row.get(0)?, row.get(1)?, row.get(2)?) {
            (APPLICATION, version, _) => Format::Ours { version },
            (0, 0_u32, 0_i64) => Format::Empty,
            _ => Format::Foreign,
        })
    })
}

/// The version that `steps` lead to.
pub(crate) fn newest(steps: &[Step]) -> u32 {
    u32::try_from(steps.len()).unwrap_or(u32::MAX)
}

/// Takes the steps that the file still lacks, all in one transaction. Only for files that are empty or ours.
pub(crate) fn migrate(connection: &mut Connection, steps: &[Step]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Checked again under the lock: another process may just have migrated.
    let taken = match format(&transaction)? {
        Format::Ours { version } => version,
        Format::Empty | Format::Foreign => 0,
    };
    for step in steps.iter().skip(taken as usize) {
        transaction.execute_batch(step.sql)?;
        if let Some(then) = step.then {
            then(&transaction)?;
        }
    }
    mark(&transaction, newest(steps).max(taken))?;
    transaction.commit()
}

fn mark(transaction: &Transaction<'_>, version: u32) -> rusqlite::Result<()> {
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up history: version 1 had one table, version 2 added a column, version 3 filled it.
    const MADE_UP: &[Step] = &[
        Step { sql: "CREATE TABLE notes (text TEXT)", then: None },
        Step { sql: "ALTER TABLE notes ADD COLUMN length INTEGER", then: None },
        Step { sql: "UPDATE notes SET length = length(text)", then: Some(double_them) },
    ];

    fn double_them(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        transaction.execute_batch("UPDATE notes SET length = 2 * length")
    }

    fn at_version_1() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &MADE_UP[..1]).unwrap();
        connection.execute("INSERT INTO notes VALUES ('four')", ()).unwrap();
        connection
    }

    #[test]
    fn an_older_file_takes_only_the_steps_it_lacks_and_keeps_its_rows() {
        let mut connection = at_version_1();
        migrate(&mut connection, MADE_UP).unwrap();
        let length: i64 = connection.query_row("SELECT length FROM notes", (), |row| row.get(0)).unwrap();
        assert_eq!(length, 8);
        assert_eq!(format(&connection).unwrap(), Format::Ours { version: 3 });
    }

    #[test]
    fn a_step_that_fails_leaves_the_file_at_its_old_version() {
        let mut connection = at_version_1();
        let broken = [MADE_UP[0], MADE_UP[1], Step { sql: "UPDATE nowhere SET length = 0", then: None }];
        migrate(&mut connection, &broken).unwrap_err();
        assert_eq!(format(&connection).unwrap(), Format::Ours { version: 1 });
        let columns = connection.prepare("SELECT * FROM notes").unwrap().column_count();
        assert_eq!(columns, 1, "the step that succeeded before it is undone too");
    }

    #[test]
    fn a_foreign_file_is_distinguished_from_an_empty_one_and_from_ours() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert_eq!(format(&connection).unwrap(), Format::Empty);
        migrate(&mut connection, STEPS).unwrap();
        assert_eq!(format(&connection).unwrap(), Format::Ours { version: newest(STEPS) });

        let foreign = Connection::open_in_memory().unwrap();
        foreign.execute_batch("CREATE TABLE cookies (name TEXT)").unwrap();
        assert_eq!(format(&foreign).unwrap(), Format::Foreign);
    }
}
