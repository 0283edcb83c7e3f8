//! Who may draw on the terminal: progress, or a question while it waits for its answer.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::aside::write_stderr;
use super::screen::Screen;

/// The lower part of a terminal, shared by all who write there. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage(Arc<Mutex<Drawn>>);

#[derive(Debug, Default)]
struct Drawn {
    screen: Screen,
    /// Whether a question stands there.
    held: bool,
}

impl Stage {
    /// Draws, unless a question stands there; whether it did.
    pub(super) fn draw(&self, draw: impl FnOnce(&mut Screen) -> String) -> bool {
        let mut drawn = self.lock();
        if drawn.held {
            return false;
        }
        write_stderr(&draw(&mut drawn.screen));
        true
    }

    /// Takes away what progress has drawn.
    pub(super) fn clear(&self) {
        write_stderr(&self.lock().screen.erase(columns()));
    }

    /// Takes away what progress has drawn, and lets it draw no more until released.
    pub(crate) fn hold(&self) {
        let mut drawn = self.lock();
        write_stderr(&drawn.screen.erase(columns()));
        drawn.held = true;
    }

    /// Whether a question stands there.
    pub(crate) fn is_held(&self) -> bool {
        self.lock().held
    }

    /// Lets progress draw again.
    pub(crate) fn release(&self) {
        self.lock().held = false;
    }

    fn lock(&self) -> MutexGuard<'_, Drawn> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of the terminal on stderr, or a usual one where there is none.
pub(crate) fn columns() -> usize {
    extent(rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| size.ws_col), 80)
}

/// The same for its rows.
pub(super) fn rows() -> usize {
    extent(rustix::termios::tcgetwinsize(io::stderr()).ok().map(|size| size.ws_row), 24)
}

fn extent(given: Option<u16>, usual: usize) -> usize {
    given.filter(|count| *count > 0).map_or(usual, usize::from)
}
