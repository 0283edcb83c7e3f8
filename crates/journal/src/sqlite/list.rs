//! Headers of tasks. The rows are checked one by one, and their number against the totals, for each way to find them.

use std::collections::HashMap;

use rusqlite::{Connection, Params};
use sortie_protocol::TaskId;

use super::failure::Failure;
use super::reader::Reader;
use super::totals::Totals;
use super::{row, task_row};
use crate::owner::Owner;
use crate::{JournalError, TaskHeader, TaskQuery};

/// Each way to find tasks, as the count of all that are found by it. SQLite would rather count what is smaller.
const IN_THE_TABLE: &str = "SELECT count(*) FROM tasks NOT INDEXED";
const BY_ID: &str = "SELECT count(*) FROM tasks INDEXED BY sqlite_autoindex_tasks_1 WHERE task >= ''";
const BY_PARENT: &str = "SELECT (SELECT count(*) FROM tasks INDEXED BY tasks_by_parent WHERE parent IS NULL)
    + (SELECT count(*) FROM tasks INDEXED BY tasks_by_parent WHERE parent >= '')";
const OPEN: &str = "SELECT count(*) FROM tasks INDEXED BY tasks_open WHERE status IS NULL";

impl Reader {
    pub(super) fn list(&self, query: &TaskQuery) -> Result<Vec<TaskHeader>, JournalError> {
        self.ask(|snapshot| {
            let before = match query.behind {
                Some(task) => task_row::known(snapshot, task)?.tail.number,
                None => i64::MAX,
            };
            let totals = Totals::load(snapshot)?;
            let which = if query.is_about_open_legs() {
                expect(snapshot, OPEN, totals.open)?;
                "INDEXED BY tasks_open WHERE t.status IS NULL AND"
            } else {
                expect(snapshot, IN_THE_TABLE, totals.tasks)?;
                "NOT INDEXED WHERE"
            };
            let roots = if query.roots_only { "t.parent IS NULL AND" } else { "" };
            let sql = format!("{which} {roots} t.number < ?1 ORDER BY t.number DESC");
            headers(snapshot, &sql, [before], query)
        })
    }

    pub(super) fn find(&self, prefix: &str) -> Result<Vec<TaskHeader>, JournalError> {
        let letters = prefix.strip_prefix("agent-").unwrap_or(prefix);
        self.ask(|snapshot| {
            expect(snapshot, BY_ID, Totals::load(snapshot)?.tasks)?;
            // Ids are made of a to z, and `{` follows `z`.
            let sql = "INDEXED BY sqlite_autoindex_tasks_1 WHERE t.task >= ?1 AND t.task < ?1 || '{' ORDER BY t.number";
            headers(snapshot, sql, [letters], &TaskQuery::default())
        })
    }

    pub(super) fn tree(&self, root: TaskId) -> Result<Vec<TaskHeader>, JournalError> {
        self.ask(|snapshot| tree(snapshot, root))
    }
}

/// A task and all its descendants.
pub(super) fn tree(snapshot: &Connection, root: TaskId) -> Result<Vec<TaskHeader>, Failure> {
    task_row::known(snapshot, root)?;
    expect(snapshot, BY_PARENT, Totals::load(snapshot)?.tasks)?;
    // Parents start before their children, so the order of starting puts them first.
    let members = "WHERE t.number IN (
            WITH RECURSIVE member (number, task) AS (
                SELECT number, task FROM tasks WHERE task = ?1
                UNION
                SELECT child.number, child.task FROM tasks child INDEXED BY tasks_by_parent
                    JOIN member ON child.parent = member.task
            )
            SELECT number FROM member
        )
        ORDER BY t.number";
    headers(snapshot, members, [root.letters()], &TaskQuery::default())
}

fn headers(
    snapshot: &Connection,
    which: &str,
    parameters: impl Params,
    query: &TaskQuery,
) -> Result<Vec<TaskHeader>, Failure> {
    // Most tasks of a list have the same few owners.
    let mut alive = HashMap::new();
    let mut statement = snapshot.prepare_cached(&format!("{} {which}", row::TASKS))?;
    let mut rows = statement.query(parameters)?;
    let mut headers = Vec::new();
    while headers.len() < query.limit {
        let Some(row) = rows.next()? else { break };
        let task = row::task(row)?;
        let is_alive = |owner: Owner| *alive.entry(owner).or_insert_with(|| owner.is_alive());
        let header = task.origin.header(&task.tail.progress, is_alive);
        if !task.tail.going && query.admits(&header) {
            headers.push(header);
        }
    }
    Ok(headers)
}

/// Sees that a way to find tasks finds as many as there are.
fn expect(snapshot: &Connection, count: &str, expected: i64) -> Result<(), Failure> {
    let found: i64 = snapshot.prepare_cached(count)?.query_row((), |row| row.get(0))?;
    if found != expected {
        return Err(Failure::Damage(format!("{expected} tasks should be found and {found} are")));
    }
    Ok(())
}
