//! The lower part of the terminal, shared by progress and by questions that wait for an answer.

pub(super) mod screen;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::error::long_wait::LONG_WAIT;
use crate::text::{columns, write_stderr};
use screen::Screen;

/// The lower part of a terminal, shared by all who write there. Clones are the same one.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgressArea {
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

impl ProgressArea {
    /// One on which progress is drawn, again and again.
    pub(super) fn of_progress() -> Self {
        let scene = Scene { frames: Some(0), is_closing: false };
        Self { drawn: Arc::default(), scene: Arc::new(watch::Sender::new(scene)) }
    }

    /// Waits until all that has happened by now was drawn, which belongs above a question; and as long as the run is
    /// about to be left, since nobody would wait for the answer. A display that hangs holds no question for long.
    pub(crate) async fn is_ready(&self) {
        let mut scene = self.scene.subscribe();
        let now = scene.borrow().frames;
        if let Some(frames) = now {
            // What is drawn next may have been read before.
            let caught_up = scene.wait_for(|scene| scene.frames.is_none_or(|drawn| drawn >= frames + 2));
            tokio::time::timeout(LONG_WAIT, caught_up).await.ok();
        }
        // It cannot fail: the sender is here.
        scene.wait_for(|scene| !scene.is_closing).await.ok();
    }

    /// Keeps new questions back: the run is about to be left.
    pub(crate) fn keep_questions_back(&self) {
        self.set_closing(true);
    }

    /// Lets questions stand here again.
    pub(crate) fn admit_questions(&self) {
        self.set_closing(false);
    }

    fn set_closing(&self, is_closing: bool) {
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
