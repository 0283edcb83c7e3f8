//! Lower part of the terminal, shared by progress and pending questions.

pub(super) mod screen;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::error::long_wait::LONG_WAIT;
use crate::text::{columns, write_stderr};
use screen::Screen;

/// Lower part of a terminal, shared by all its writers. Clones refer to one area.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgressArea {
    drawn: Arc<Mutex<Drawn>>,
    scene: Arc<watch::Sender<Scene>>,
}

/// State that a question must know before it is shown.
#[derive(Debug, Clone, Copy, Default)]
struct Scene {
    /// Frames drawn so far; `None` if nothing draws.
    frames: Option<u64>,
    /// True if the run is about to be left.
    is_closing: bool,
}

#[derive(Debug, Default)]
struct Drawn {
    screen: Screen,
    /// True while a question is shown.
    held: bool,
}

impl ProgressArea {
    /// Area with progress that is drawn again and again.
    pub(super) fn of_progress() -> Self {
        let scene = Scene { frames: Some(0), is_closing: false };
        Self { drawn: Arc::default(), scene: Arc::new(watch::Sender::new(scene)) }
    }

    /// Waits until everything so far has been drawn, so that it stands above the question. Also waits while the run is
    /// about to be left, since nobody would read the answer. A hanging display delays a question only briefly.
    pub(crate) async fn is_ready(&self) {
        let mut scene = self.scene.subscribe();
        let now = scene.borrow().frames;
        if let Some(frames) = now {
            // The next frame may have been read before.
            let caught_up = scene.wait_for(|scene| scene.frames.is_none_or(|drawn| drawn >= frames + 2));
            tokio::time::timeout(LONG_WAIT, caught_up).await.ok();
        }
        // Cannot fail: the sender is here.
        scene.wait_for(|scene| !scene.is_closing).await.ok();
    }

    /// Holds back new questions: the run is about to be left.
    pub(crate) fn keep_questions_back(&self) {
        self.set_closing(true);
    }

    /// Admits questions again.
    pub(crate) fn admit_questions(&self) {
        self.set_closing(false);
    }

    fn set_closing(&self, is_closing: bool) {
        self.scene.send_if_modified(|scene| std::mem::replace(&mut scene.is_closing, is_closing) != is_closing);
    }

    /// Erases progress for good.
    pub(super) fn end_progress(&self) {
        self.clear();
        self.scene.send_modify(|scene| scene.frames = None);
    }

    /// Draws unless a question is shown; returns if it did.
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

    /// Erases the drawn progress.
    pub(super) fn clear(&self) {
        write_stderr(&self.lock().screen.erase(columns()));
    }

    /// Erases the drawn progress, and blocks it until released.
    pub(crate) fn hold(&self) {
        let mut drawn = self.lock();
        write_stderr(&drawn.screen.erase(columns()));
        drawn.held = true;
    }

    /// True while a question is shown.
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
