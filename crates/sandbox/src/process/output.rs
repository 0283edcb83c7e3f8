//! The output of a command in progress: passed on as it arrives, counted, and saved to a file if it is long.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use sortie_mutant::is_out;

use crate::spill::SpillDir;

/// Conditions for saving an output to a file.
#[derive(Debug, Clone, Copy)]
pub struct OutputCaps<'a> {
    /// Bytes of output that need no file.
    pub unspilled: u64,
    /// Directory for longer outputs, which are saved from the start, up to [`SPILLED`](Self::SPILLED) bytes.
    pub spill: Option<&'a SpillDir>,
}

impl OutputCaps<'_> {
    /// Most bytes saved; the rest is only counted.
    pub const SPILLED: u64 = 16 << 20;
}

/// Summary of an output.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct OutputCount {
    /// All bytes that the command wrote.
    pub total: u64,
    /// The file that has them from the start, if there are more than fit without one.
    pub spilled: Option<PathBuf>,
    /// Bytes at the end missing from the file.
    pub dropped: u64,
    /// Reason why the spill file is missing or incomplete.
    pub spill_failure: Option<String>,
}

pub(super) struct Output<'a> {
    caps: OutputCaps<'a>,
    count: OutputCount,
    /// Output so far, while it may become the start of a spill file.
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

    /// Bytes that cannot be written count as dropped; nothing is written after them, so that the file has no gaps.
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
