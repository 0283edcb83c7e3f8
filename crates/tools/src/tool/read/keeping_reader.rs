//! `KeepingReader`: a reader that keeps the bytes that pass through it, up to a limit.

use std::io::{self, Read};

use crate::files::read_state::MAX_FILE_BYTES;

/// A reader that keeps the bytes that pass through it.
pub(super) struct KeepingReader<R> {
    inner: R,
    /// `None` once the limit is exceeded.
    kept: Option<Vec<u8>>,
}

impl<R> KeepingReader<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, kept: Some(Vec::new()) }
    }

    /// Returns a file of `n_bytes`, if all of it passed through and was kept.
    pub(super) fn whole(self, n_bytes: u64) -> Option<Vec<u8>> {
        self.kept.filter(|kept| kept.len() as u64 == n_bytes)
    }
}

impl<R: Read> Read for KeepingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.inner.read(buffer)?;
        self.kept = self.kept.take().filter(|kept| kept.len() + n_bytes <= MAX_FILE_BYTES).map(|mut kept| {
            kept.extend_from_slice(&buffer[..n_bytes]);
            kept
        });
        Ok(n_bytes)
    }
}
