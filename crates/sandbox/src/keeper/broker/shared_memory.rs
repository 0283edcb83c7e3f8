//! Memory that processes share. The kernel charges it to none of them, so the broker counts it for the whole command.

use rustix::io::Errno;

use crate::system::{ToldAnswer, ToldCall};
use crate::walls::Tier;
use crate::walls::plan::Plan;

/// Size of the pages of kernels with the largest ones.
const LARGEST_PAGE: u64 = 64 << 10;

/// Shared memory that a command has asked for. What it gave back still counts, since nothing tells the broker.
#[derive(Debug, Default)]
pub(super) struct SharedMemory {
    bytes: u64,
}

impl SharedMemory {
    /// Judges a call that makes shared memory, by the limit for one process; `None` for any other call.
    pub(super) fn judge(&mut self, plan: &Plan, call: &ToldCall) -> Option<ToldAnswer> {
        let is_segment = call.number == libc::SYS_shmget && plan.tier == Tier::Namespaces;
        if call.number != libc::SYS_mmap && !is_segment {
            return None;
        }
        // The length is the second argument of both.
        let bytes = self.bytes.saturating_add(in_whole_pages(call.arguments[1]));
        if bytes > plan.limits.memory {
            return Some(ToldAnswer::Fails(Errno::NOMEM));
        }
        self.bytes = bytes;
        Some(ToldAnswer::Goes)
    }
}

fn in_whole_pages(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(LARGEST_PAGE).unwrap_or(u64::MAX)
}
