//! Numbers and byte strings in sequence, as passed between this program and its keeper.

use std::ffi::OsStr;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Writes the format that [`Reader`] reads, in the same order.
#[derive(Debug, Default)]
pub(crate) struct Writer(Vec<u8>);

/// Reads from the front. `None` means that something else wrote this.
#[derive(Debug)]
pub(crate) struct Reader<'a>(&'a [u8]);

impl Writer {
    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    pub(crate) fn string(&mut self, string: impl AsRef<OsStr>) {
        let bytes = string.as_ref().as_bytes();
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    pub(crate) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(items.len() as u64);
        for item in items {
            write(self, item);
        }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    pub(crate) fn string(&mut self) -> Option<OsString> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(OsString::from_vec(bytes.to_vec()))
    }

    pub(crate) fn path(&mut self) -> Option<PathBuf> {
        self.string().map(PathBuf::from)
    }

    pub(crate) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| read(self)).collect()
    }
}
