//! A journal whose tasks happened some days ago.

use std::fs;

use sortie_journal::{Durability, Entry, Journal as _, Position, Scope, SqliteJournal};
use sortie_protocol::{Event, Timestamp};

use crate::world::World;

/// Rewrites the journal as if all of it had happened this many days earlier.
pub(crate) fn make_older(world: &World, days: u64) {
    let path = world.path("state/journal.db");
    let events = SqliteJournal::open(&path).unwrap().read_after(Scope::All, Position(0), usize::MAX).unwrap();
    for rest in ["", "-wal", "-shm"] {
        fs::remove_file(world.path(&format!("state/journal.db{rest}"))).ok();
    }
    let earlier = |Timestamp(ms)| Timestamp(ms - days * 24 * 60 * 60 * 1000);
    let entry = |Event { task_id, leg, time, fact, .. }| {
        let time = earlier(time);
        Entry { task_id, leg, attempt: 1, time, after: None, fact }
    };
    let entries = events.into_iter().map(|(_, event)| entry(event)).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(SqliteJournal::open(&path).unwrap().append(entries, Durability::Synced)).unwrap();
}
