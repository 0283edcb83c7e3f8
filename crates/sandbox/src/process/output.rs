//! The output of a command on its way: handed on up to a cap, spilled up to another, counted to the end.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use super::OutputCaps;

/// What became of an output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OutputCount {
    /// All bytes that the command wrote.
    pub total: u64,
    /// How many of them were handed on, from the first.
    pub shown: u64,
    /// The file that has more of them, also from the first; if the output was longer than what is shown.
    pub spilled: Option<PathBuf>,
    /// The bytes at the end that were kept nowhere.
    pub dropped: u64,
    /// Why there is no spill file, or only the beginning of one, though there should be.
    pub spill_failure: Option<String>,
}

pub(super) struct Output<'a> {
    caps: OutputCaps<'a>,
    count: OutputCount,
    /// What was shown, as long as it may have to begin a spill file.
    shown: Vec<u8>,
    file: Option<(File, u64)>,
}

impl<'a> Output<'a> {
    pub(super) fn new(caps: OutputCaps<'a>) -> Self {
        Self { caps, count: OutputCount::default(), shown: Vec::new(), file: None }
    }

    /// Takes the next bytes; those that are within the cap go to `show`.
    pub(super) fn take(&mut self, bytes: &[u8], show: &mut dyn FnMut(&[u8])) {
        self.count.total += bytes.len() as u64;
        let room = usize::try_from(self.caps.shown - self.count.shown).unwrap_or(usize::MAX);
        let (within, beyond) = bytes.split_at(room.min(bytes.len()));
        if !within.is_empty() {
            self.count.shown += within.len() as u64;
            if self.caps.spill.is_some() {
                self.shown.extend(within);
            }
            show(within);
        }
        if !beyond.is_empty() {
            self.keep(beyond);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if let Some(directory) = self.caps.spill
            && self.count.spilled.is_none()
            && self.count.spill_failure.is_none()
        {
            match directory.create_file("output") {
                Ok((path, file)) => {
                    self.count.spilled = Some(path);
                    self.file = Some((file, 0));
                    let shown = std::mem::take(&mut self.shown);
                    self.write(&shown);
                }
                Err(error) => self.count.spill_failure = Some(error.to_string()),
            }
        }
        self.write(bytes);
    }

    /// What cannot be written is counted as dropped; nothing after it is written, so that the file has no gaps.
    fn write(&mut self, bytes: &[u8]) {
        let room = self.file.as_ref().map_or(0, |(_, written)| OutputCaps::SPILLED.saturating_sub(*written));
        let length = bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX));
        if let Some((file, written)) = &mut self.file {
            match file.write_all(&bytes[..length]) {
                Ok(()) => *written += length as u64,
                Err(error) => {
                    self.count.spill_failure = Some(error.to_string());
                    self.file = None;
                }
            }
        }
    }

    pub(super) fn finish(mut self) -> OutputCount {
        let written = self.file.as_ref().map_or(0, |(_, written)| *written);
        self.count.dropped = self.count.total - self.count.shown.max(written);
        self.count
    }
}
