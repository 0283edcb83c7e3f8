//! Lines that were read and not taken yet. Reading runs ahead, so that the end of the input is noticed even while
//! nothing is taken; but only up to a bound.

use std::sync::Arc;

use tokio::io::AsyncRead;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::stdio::lines::{Line, Lines};

/// Bytes that may wait to be taken. A longer line waits alone.
const MAX_AHEAD: usize = 1 << 20;
/// Overhead of a line on top of its bytes.
const LINE_BYTES: usize = 64;

/// A line, and the room that it occupies until it is taken.
pub(super) struct Arrival {
    pub(super) line: Line<Vec<u8>>,
    _room: OwnedSemaphorePermit,
}

/// Lines in order of arrival; the channel ends with the input.
pub(super) type ReadAhead = UnboundedReceiver<Arrival>;

/// Reads until the input ends. An unreadable input counts as ended.
pub(super) async fn read_on<R: AsyncRead + Unpin>(mut lines: Lines<R>, arrivals: &UnboundedSender<Arrival>) {
    let ahead = Arc::new(Semaphore::new(MAX_AHEAD));
    while let Ok(Some(line)) = lines.next(<[u8]>::to_vec).await {
        let bytes = match &line {
            Line::Read(line) => line.len(),
            Line::TooLong => 0,
        };
        let room = u32::try_from((bytes + LINE_BYTES).min(MAX_AHEAD)).unwrap_or(u32::MAX);
        let Ok(room) = Arc::clone(&ahead).acquire_many_owned(room).await else { return };
        if arrivals.send(Arrival { line, _room: room }).is_err() {
            return;
        }
    }
}
