//! Who may draw on the terminal: progress, or a question while it waits for its answer.

use std::io::{self, IsTerminal as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::aside::write_stderr;
use super::screen::Screen;
use super::width;
use crate::patience::A_MOMENT;

/// The lower part of a terminal, shared by all who write there. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stage {
    drawn: Arc<Mutex<Drawn>>,
    scene: Arc<watch::Sender<Scene>>,
}

/// What a question must know before it stands there.
#[derive(Debug, Clone, Copy, Default)]
struct Scene {
    /// How often progress was drawn; `None` while nobody draws any.
    frames: Option<u64>,
    /// Whether the run is about to be left.
    is_closing: bool,
}

#[derive(Debug, Default)]
struct Drawn {
    screen: Screen,
    /// Whether a question stands there.
    held: bool,
}

impl Stage {
    /// One on which progress is drawn, again and again.
    pub(super) fn of_progress() -> Self {
        let scene = Scene { frames: Some(0), is_closing: false };
        Self { drawn: Arc::default(), scene: Arc::new(watch::Sender::new(scene)) }
    }

    /// Waits until all that has happened by now was drawn, which belongs above a question; and as long as the run is about
    /// to be left, since nobody would wait for the answer. A display that hangs holds no question for long.
    pub(crate) async fn is_ready(&self) {
        let mut scene = self.scene.subscribe();
        let now = scene.borrow().frames;
        if let Some(frames) = now {
            // What is drawn next may have been read before.
            let caught_up = scene.wait_for(|scene| scene.frames.is_none_or(|drawn| drawn >= frames + 2));
            tokio::time::timeout(A_MOMENT, caught_up).await.ok();
        }
        // It cannot fail: the sender is here.
        scene.wait_for(|scene| !scene.is_closing).await.ok();
    }

    /// Says whether the run is about to be left.
    pub(crate) fn set_closing(&self, is_closing: bool) {
        self.scene.send_if_modified(|scene| std::mem::replace(&mut scene.is_closing, is_closing) != is_closing);
    }

    /// Takes away what progress has drawn; there will be no more of it.
    pub(super) fn end_progress(&self) {
        self.clear();
        self.scene.send_modify(|scene| scene.frames = None);
    }

    /// Draws, unless a question stands there; whether it did.
    pub(super) fn draw(&self, draw: impl FnOnce(&mut Screen) -> String) -> bool {
        let mut drawn = self.lock();
        if drawn.held {
            return false;
        }
        write_stderr(&draw(&mut drawn.screen));
        drop(drawn);
        self.scene.send_modify(|scene| scene.frames = scene.frames.map(|frames| frames + 1));
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
        self.drawn.lock().unwrap_or_else(PoisonError::into_inner)
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

/// A text for the terminal on stderr, its lines broken between words where they have no room; as it is where there is
/// none.
pub(crate) fn fitted(text: &str) -> String {
    if io::stderr().is_terminal() { broken(text, columns()) } else { text.to_owned() }
}

fn broken(text: &str, columns: usize) -> String {
    let lines = text.split('\n').flat_map(|line| width::wrap_line(line, columns));
    lines.collect::<Vec<_>>().join("\n")
}

fn extent(given: Option<u16>, usual: usize) -> usize {
    given.filter(|count| *count > 0).map_or(usual, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_at_the_end_is_broken_between_words() {
        let said = "note: the provider reported no usage; it was estimated\nchanged: a.rs\n";
        let expected = "note: the provider reported no usage;\nit was estimated\nchanged: a.rs\n";
        assert_eq!((broken(said, 38), broken(said, 80)), (expected.to_owned(), said.to_owned()));
    }
}
