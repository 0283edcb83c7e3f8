//! `Difference`: changes between two snapshots of the same directories.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::slice::Iter;

use super::{Sight, TreeSnapshot};

/// The difference of two snapshots.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Files created, changed or removed, sorted.
    pub(crate) changed: Vec<PathBuf>,
    /// Changed files that existed before and still do, sorted.
    pub(crate) altered: Vec<PathBuf>,
    /// New entries, ignored or not, sorted.
    pub(crate) appeared: Vec<PathBuf>,
    /// A remark about it.
    pub(crate) note: Option<String>,
}

impl TreeSnapshot {
    /// Compares with `after`, a later snapshot of the same directories. The error is the reason why they cannot be
    /// compared.
    pub(crate) fn compare(&self, after: &Self) -> Result<Difference, String> {
        if let Some(lack) = self.lack.as_ref().or(after.lack.as_ref()) {
            return Err(lack.clone());
        }
        let mut difference = Difference::default();
        for (directory, now) in &after.directories {
            let before = self.directories.get(directory).map_or(&[][..], Vec::as_slice);
            difference.add(directory, Pairs { before: before.iter().peekable(), after: now.iter().peekable() });
        }
        for (directory, before) in &self.directories {
            if !after.directories.contains_key(directory) {
                difference.add(directory, Pairs { before: before.iter().peekable(), after: [].iter().peekable() });
            }
        }
        difference.changed.sort_unstable();
        difference.altered.sort_unstable();
        difference.appeared.sort_unstable();
        let is_less_seen = after.n_unlisted > self.n_unlisted;
        difference.note =
            is_less_seen.then(|| "some directories can no longer be listed: changes in them are not reported".into());
        Ok(difference)
    }
}

impl Difference {
    fn add(&mut self, directory: &Path, pairs: Pairs<'_>) {
        for (name, before, after) in pairs {
            let path = || directory.join(name);
            match (before, after) {
                (Some(Sight::File(before)), Some(Sight::File(after))) if before != after => {
                    self.changed.push(path());
                    self.altered.push(path());
                }
                (Some(Sight::File(_)), None) => self.changed.push(path()),
                (None, Some(sight)) => {
                    self.appeared.push(path());
                    self.changed.extend(matches!(sight, Sight::File(_)).then(path));
                }
                // An entry that becomes ignored or visible has not changed.
                _ => {}
            }
        }
    }
}

/// The entries of one directory at two moments, by name.
struct Pairs<'a> {
    before: Peekable<Iter<'a, (OsString, Sight)>>,
    after: Peekable<Iter<'a, (OsString, Sight)>>,
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a OsString, Option<Sight>, Option<Sight>);

    fn next(&mut self) -> Option<Self::Item> {
        let order = match (self.before.peek(), self.after.peek()) {
            (Some((before, _)), Some((after, _))) => before.cmp(after),
            (Some(_), None) => Ordering::Less,
            (None, _) => Ordering::Greater,
        };
        let before = if order.is_le() { self.before.next() } else { None };
        let after = if order.is_ge() { self.after.next() } else { None };
        let (name, _) = before.or(after)?;
        Some((name, before.map(|(_, sight)| *sight), after.map(|(_, sight)| *sight)))
    }
}
