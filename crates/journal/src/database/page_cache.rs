//! The part of the file that the writer keeps in memory: little, but for the time in which many write at once, all over
//! the index. With SQLite's usual cache they would wait for the disk; and whatever a long run has no need of is memory
//! held for nothing.

use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Orders at once that are little to do.
const FEW: usize = 64;
/// In KiB: SQLite's own, and while many write.
const USUAL: i64 = 2000;
const WIDE: i64 = 65_536;
/// How long there is little to do before the cache is the usual one again.
const WIDE_FOR: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct PageCache {
    kibibytes: i64,
    /// When many orders came last.
    many_came: Option<Instant>,
}

impl PageCache {
    /// Of a new connection.
    pub(crate) fn new() -> Self {
        Self { kibibytes: USUAL, many_came: None }
    }

    /// Fits it to the orders that wait. Made narrow, it lets go at once of all that does not fit any more.
    pub(crate) fn fit(&mut self, connection: &Connection, waiting: usize, now: Instant) {
        if waiting > FEW {
            self.many_came = Some(now);
        }
        let is_wide = self.many_came.is_some_and(|came| now.duration_since(came) < WIDE_FOR);
        let kibibytes = if is_wide { WIDE } else { USUAL };
        // The writer works with whichever it has.
        if self.kibibytes != kibibytes && connection.pragma_update(None, "cache_size", -kibibytes).is_ok() {
            self.kibibytes = kibibytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_wide_while_many_write_and_narrow_again_soon_after() {
        let connection = Connection::open_in_memory().unwrap();
        let mut cache = PageCache::new();
        let begun = Instant::now();
        let mut fitted = |waiting, seconds| -> i64 {
            cache.fit(&connection, waiting, begun + Duration::from_secs(seconds));
            connection.query_row("PRAGMA cache_size", (), |row| row.get(0)).unwrap()
        };
        assert_eq!(fitted(1, 0), -USUAL);
        assert_eq!(fitted(FEW + 1, 1), -WIDE);
        assert_eq!((fitted(1, 2), fitted(FEW, 10)), (-WIDE, -WIDE));
        assert_eq!((fitted(1, 11), fitted(FEW, 60)), (-USUAL, -USUAL));
    }
}
