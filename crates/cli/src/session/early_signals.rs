//! Signals before a task has begun: the program reports in its own format that nothing was started, and ends.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use sortie_protocol::{Failure, FailureCode};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::PATIENCE_WITH_READERS;
use crate::error::CommandError;
use crate::error::signal::{Signal, Signals};

/// Report that nothing was started.
type Report = Box<dyn Fn(&Failure) -> Result<(), CommandError> + Send>;

/// Watch over the time in which a command gets ready. It lasts until the session takes over, and once it has begun, no
/// signal kills the process without a report.
pub(crate) struct EarlySignals {
    runtime: Runtime,
    last_words: LastWords,
    watch: JoinHandle<Signals>,
    over: oneshot::Sender<Infallible>,
}

/// Report for the case that a signal comes now.
#[derive(Clone)]
pub(super) struct LastWords(Arc<Mutex<Report>>);

impl EarlySignals {
    pub(crate) fn watch(
        report: impl Fn(&Failure) -> Result<(), CommandError> + Send + 'static,
    ) -> Result<Self, CommandError> {
        let runtime = Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))?;
        let entered = runtime.enter();
        let mut signals = Signals::listen()
            .map_err(|error| CommandError::internal(format!("cannot install signal handlers: {error}")))?;
        drop(entered);
        let last_words = LastWords(Arc::new(Mutex::new(Box::new(report))));
        let ((over, is_over), speaker) = (oneshot::channel(), last_words.clone());
        let watch = runtime.spawn(async move {
            tokio::select! {
                biased;
                signal = signals.next() => speaker.end(signal, &mut signals).await,
                _ = is_over => signals,
            }
        });
        Ok(Self { runtime, last_words, watch, over })
    }

    /// Changes the report: more is known now.
    pub(crate) fn report_by(&self, report: impl Fn(&Failure) -> Result<(), CommandError> + Send + 'static) {
        *self.last_words.0.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(report);
    }

    /// Ends the watch. Signals that come from now on are the caller's.
    pub(super) fn hand_over(self) -> Result<(Runtime, Signals, LastWords), CommandError> {
        let Self { runtime, last_words, watch, over } = self;
        drop(over);
        let signals = runtime
            .block_on(watch)
            .map_err(|error| CommandError::internal(format!("the watch over signals broke down: {error}")))?;
        Ok((runtime, signals, last_words))
    }
}

impl LastWords {
    /// Reports that the task was interrupted before it began.
    pub(super) fn say(&self) -> Result<(), CommandError> {
        let failure = Failure::new(FailureCode::Interrupted, "the task was interrupted before it began");
        self.0.lock().unwrap_or_else(PoisonError::into_inner)(&failure)
    }

    /// Reports it, but waits only a while for a reader, and not beyond another signal. Then ends the process,
    /// which is still getting ready: nothing is under way that could be lost.
    async fn end(&self, signal: Signal, signals: &mut Signals) -> ! {
        let speaker = self.clone();
        let mut saying = tokio::task::spawn_blocking(move || speaker.say());
        let patience = tokio::time::sleep(PATIENCE_WITH_READERS);
        tokio::pin!(patience);
        loop {
            tokio::select! {
                _ = &mut saying => break,
                () = &mut patience => break,
                another = signals.next() => if another.is_meant_after(Some(signal)) { break },
            }
        }
        std::process::exit(i32::from(signal.code()))
    }
}
