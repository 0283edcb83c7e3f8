//! The output of a command on its way: handed on as it comes, counted, and kept in a file where it is long.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use sortie_mutant::is_out;

use crate::spill::SpillDir;

/// When an output is kept in a file.
#[derive(Debug, Clone, Copy)]
pub struct OutputCaps<'a> {
    /// The bytes that an output may have without being kept.
    pub unspilled: u64,
    /// Where one that has more is kept from its beginning, up to [`SPILLED`](Self::SPILLED) bytes.
    pub spill: Option<&'a SpillDir>,
}

impl OutputCaps<'_> {
    /// What is spilled at most; the rest is only counted.
    pub const SPILLED: u64 = 16 << 20;
}

/// What became of an output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OutputCount {
    /// All bytes that the command wrote.
    pub total: u64,
    /// The file that has them, from the first; if there are more than go without one.
    pub spilled: Option<PathBuf>,
    /// The bytes at the end that should be in a file, and are not.
    pub dropped: u64,
    /// Why there is no spill file, or only the beginning of one, though there should be.
    pub spill_failure: Option<String>,
}

pub(super) struct Output<'a> {
    caps: OutputCaps<'a>,
    count: OutputCount,
    /// What came so far, as long as it may have to begin a spill file.
    beginning: Vec<u8>,
    file: Option<(File, u64)>,
}

impl<'a> Output<'a> {
    pub(super) fn new(caps: OutputCaps<'a>) -> Self {
        Self { caps, count: OutputCount::default(), beginning: Vec::new(), file: None }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.count.total += bytes.len() as u64;
        let Some(directory) = self.caps.spill else { return };
        if self.count.total <= self.caps.unspilled {
            self.beginning.extend(bytes);
            return;
        }
        if self.count.spilled.is_none() && self.count.spill_failure.is_none() {
            match directory.create_file("output") {
                Ok((path, file)) => {
                    self.count.spilled = Some(path);
                    self.file = Some((file, 0));
                    let beginning = std::mem::take(&mut self.beginning);
                    self.write(&beginning);
                }
                Err(error) => self.count.spill_failure = Some(error.to_string()),
            }
        }
        self.write(bytes);
    }

    /// What cannot be written is counted as dropped; nothing after it is written, so that the file has no gaps.
    fn write(&mut self, bytes: &[u8]) {
        let most = if is_out("output-cap") { u64::MAX } else { OutputCaps::SPILLED };
        let room = self.file.as_ref().map_or(0, |(_, written)| most.saturating_sub(*written));
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
        if self.count.total > self.caps.unspilled {
            self.count.dropped = self.count.total - self.file.as_ref().map_or(0, |(_, written)| *written);
        }
        self.count
    }
}
