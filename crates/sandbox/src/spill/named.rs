//! A small text under a name of its own, of which there is one version at a time.

use std::ffi::OsStr;
use std::io::Read as _;

use rustix::fs::OFlags;

use super::known::{is_harmless, unusable};
use super::{SpillDir, is_spilled};
use crate::error::SpillError;

impl SpillDir {
    /// What is kept under a name; nothing, if nothing is. More than `most` bytes are an error, and so is a file that is
    /// not an own and private one. `name` must be made of ASCII letters, digits, `-` and `_`, or be that of a spilled file.
    pub fn recall(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, SpillError> {
        let path = self.path.join(name);
        if !is_harmless(name) && !is_spilled(name) {
            return Err(unusable(&path, "that is no name for it"));
        }
        let Some((file, _)) = self.open_known(name, OFlags::RDONLY)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| SpillError::Reach { path: path.clone(), source })?;
        if bytes.len() as u64 > most { Err(unusable(&path, "it is too long")) } else { Ok(Some(bytes)) }
    }

    /// Keeps a text under a name, in a file of mode 0600, in the place of what was kept: whole, or not at all.
    pub fn keep(&self, name: &str, text: &str) -> Result<(), SpillError> {
        let path = self.path.join(name);
        if !is_harmless(name) {
            return Err(unusable(&path, "that is no name for it"));
        }
        self.put_in_place_of(OsStr::new(name), text).map_err(|source| SpillError::Write { path, source })
    }
}
