//! Size of the writer's page cache: small, except while many tasks write all over the index at once. With SQLite's
//! default they would then wait for the disk; at other times a large cache wastes memory.

use std::time::{Duration, Instant};

use rusqlite::Connection;

/// Up to so many simultaneous orders the load is light.
const FEW: usize = 64;
/// SQLite's default, in KiB.
const USUAL: i64 = 2000;
const WIDE: i64 = 65_536;
/// Time of light load before the cache shrinks again.
const WIDE_FOR: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(crate) struct PageCache {
    kibibytes: i64,
    /// Time of the last heavy load.
    many_came: Option<Instant>,
}

impl PageCache {
    /// State of a new connection's cache.
    pub(crate) fn new() -> Self {
        Self { kibibytes: USUAL, many_came: None }
    }

    /// Adapts the cache to the number of waiting orders. Shrinking frees the excess memory at once.
    pub(crate) fn fit(&mut self, connection: &Connection, waiting: usize, now: Instant) {
        if waiting > FEW {
            self.many_came = Some(now);
        }
        let is_wide = self.many_came.is_some_and(|came| now.duration_since(came) < WIDE_FOR);
        let kibibytes = if is_wide { WIDE } else { USUAL };
        // The writer works with either size.
        if self.kibibytes != kibibytes && connection.pragma_update(None, "cache_size", -kibibytes).is_ok() {
            self.kibibytes = kibibytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_grows_while_many_write_and_shrinks_soon_after() {
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
