//! A server that is a program on this machine: started without walls, with the user's rights, and reached over its
//! pipes.
//!
//! Its standard error is kept in a bounded file and never shown on a screen.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use sortie_policy::Redactor;
use sortie_sandbox::process::How;
use sortie_sandbox::{GrowingFile, OwnService, OwnServiceError, RunningService, SpillDir};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::net::unix::pipe;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::transport::ServerGround;
use crate::transport::brief::brief;
use crate::transport::chain::LEVEL_VARIABLE;
use crate::transport::decline_requests::Declining;
use crate::transport::nesting::Nesting;

/// Longest message. A longer one is not a usable answer, and its sender is not read any further.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Kept part of its last output. Much more than is shown, so that no key in the shown part is cut before masking.
const MAX_TAIL_BYTES: usize = 32 << 10;
/// Shown part of its last output.
const MAX_SHOWN_BYTES: usize = 480;
/// Bytes read at once.
const READ_BYTES: usize = 8 << 10;
/// Time to exit by itself, and again after being asked to.
const GRACE: Duration = Duration::from_secs(2);

/// A program, as named in the definition of a server.
#[derive(Clone)]
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) directory: Option<String>,
}

pub(crate) struct ServerProcess {
    running: Mutex<Option<RunningService>>,
    /// Set once all of its standard error has been read.
    is_silent: CancellationToken,
    said: Arc<Mutex<Said>>,
    redactor: Arc<Redactor>,
}

/// Known facts about its end.
#[derive(Default)]
struct Said {
    tail: Vec<u8>,
    /// Reason why it is not read any further.
    fault: Option<&'static str>,
    ended: Option<How>,
}

/// Messages to and from the program.
pub(crate) type Pipes = Declining<AsyncRwTransport<RoleClient, Bounded<pipe::Receiver>, pipe::Sender>>;

impl ServerProcess {
    /// Starts the program, or returns the reason why that is impossible.
    pub(crate) async fn start(name: &str, program: Program, ground: &ServerGround) -> Result<(Self, Pipes), String> {
        let Program { command, arguments, environment, directory } = program;
        let mut service = OwnService {
            program: command,
            arguments,
            directory: ground.start_directory(directory),
            environment: ground.environment.clone(),
            changeable: ground.changeable.clone(),
        };
        for (name, value) in environment {
            service.environment.set(name, value);
        }
        // Last: no definition may hide it.
        service.environment.set(LEVEL_VARIABLE, ground.level_below());
        let (name, logs) = (name.to_owned(), ground.logs.clone());
        let start = move || Ok::<_, OwnServiceError>((service.start()?, logs.and_then(|logs| log(&logs, &name))));
        let started = tokio::task::spawn_blocking(start).await;
        let ((running, pipes), log) = started.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        let words = |error: io::Error| error.to_string();
        let said = Arc::default();
        let output = Bounded::new(pipe::Receiver::from_owned_fd(pipes.output).map_err(words)?, Arc::clone(&said));
        let input = pipe::Sender::from_owned_fd(pipes.input).map_err(words)?;
        let errors = pipe::Receiver::from_owned_fd(pipes.errors).map_err(words)?;
        let is_silent = CancellationToken::new();
        tokio::spawn(keep(errors, is_silent.clone().drop_guard(), log, Arc::clone(&said)));
        let redactor = Arc::clone(&ground.redactor);
        let pipes = Declining::over_pipe(AsyncRwTransport::new_client(output, input));
        Ok((Self { running: Mutex::new(Some(running)), is_silent, said, redactor }, pipes))
    }

    /// Returns how it ended and its last output, to complete a sentence. Ends it if it still runs.
    pub(crate) async fn last_words(&self) -> String {
        self.end().await;
        // A process that cannot be killed may hold the pipe for ever.
        tokio::time::timeout(GRACE, self.is_silent.cancelled()).await.ok();
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let how = match (said.fault, said.ended) {
            (Some(fault), _) => format!(" ({fault})"),
            (None, Some(How::Exited { code })) => format!(" (exit code {code})"),
            (None, Some(How::Signalled { signal })) => format!(" (signal {signal})"),
            (None, _) => String::new(),
        };
        match end_of(&said.tail, &self.redactor) {
            words if words.is_empty() => how,
            words => format!("{how}; it said: {words}"),
        }
    }

    /// Ends it, with its whole process group.
    pub(crate) async fn end(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(running) = running else { return };
        let ended = tokio::task::spawn_blocking(move || running.end(GRACE, GRACE)).await.ok();
        self.said.lock().unwrap_or_else(PoisonError::into_inner).ended = ended;
    }
}

/// Returns the end of the output, without secrets, starting at a word.
fn end_of(tail: &[u8], redactor: &Redactor) -> String {
    let text = String::from_utf8_lossy(tail);
    // The text before the first space may be half of something.
    let whole =
        if tail.len() < MAX_TAIL_BYTES { &text } else { text.split_once(char::is_whitespace).unwrap_or_default().1 };
    let clean = redactor.redact(whole.trim()).text;
    let shown = match clean.len().checked_sub(MAX_SHOWN_BYTES) {
        None | Some(0) => &*clean,
        Some(cut) => clean[clean.ceil_char_boundary(cut)..].split_once(char::is_whitespace).unwrap_or_default().1,
    };
    brief(redactor, shown.trim())
}

/// Creates a file for its standard error. If that fails, the server works all the same.
fn log(logs: &Path, name: &str) -> Option<GrowingFile> {
    let logs = SpillDir::open(logs).ok()?;
    logs.discard(&format!("{name}.log")).ok()?;
    logs.growing(name).ok()
}

/// Keeps the standard error: in the file as much as fits, and in memory the last part.
async fn keep(mut errors: pipe::Receiver, _read: DropGuard, log: Option<GrowingFile>, said: Arc<Mutex<Said>>) {
    let mut buffer = vec![0; 8 << 10];
    while let Ok(length @ 1..) = errors.read(&mut buffer).await {
        if let Some(log) = &log {
            // A full or unwritable log stops nobody's work.
            log.append(&String::from_utf8_lossy(&buffer[..length])).ok();
        }
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.tail.extend(&buffer[..length]);
        let more = said.tail.len().saturating_sub(MAX_TAIL_BYTES);
        said.tail.drain(..more);
    }
}

/// A server's output, in lines of bounded length and nesting.
pub(crate) struct Bounded<R> {
    inner: R,
    line_bytes: usize,
    nesting: Nesting,
    /// Read, but not taken yet.
    kept: VecDeque<u8>,
    said: Arc<Mutex<Said>>,
}

impl<R> Bounded<R> {
    fn new(inner: R, said: Arc<Mutex<Said>>) -> Self {
        Self { inner, line_bytes: 0, nesting: Nesting::default(), kept: VecDeque::new(), said }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.kept.is_empty() {
            let mut bytes = [0; READ_BYTES];
            let mut next = ReadBuf::new(&mut bytes);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut next))?;
            let read = next.filled();
            if read.is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.line_bytes = match read.iter().rposition(|byte| *byte == b'\n') {
                Some(end) => read.len() - end - 1,
                None => this.line_bytes + read.len(),
            };
            if this.line_bytes > MAX_MESSAGE_BYTES {
                let fault = "it sent a message of more than 16 MiB";
                this.said.lock().unwrap_or_else(PoisonError::into_inner).fault = Some(fault);
                return Poll::Ready(Err(io::Error::other(fault)));
            }
            let mut kept = Vec::with_capacity(read.len());
            this.nesting.keep(read, &mut kept);
            this.kept = kept.into();
        }
        let (front, _) = this.kept.as_slices();
        let taken = front.len().min(buffer.remaining());
        buffer.put_slice(&front[..taken]);
        this.kept.drain(..taken);
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "tok-abcdefghijklmnop";

    #[test]
    fn long_last_output_is_shown_from_a_word_near_its_end() {
        let redactor = Redactor::new(Vec::new());
        let said = format!("{}the licence is over\n", "loading plugins ".repeat(100));
        let shown = end_of(said.as_bytes(), &redactor);
        assert!(shown.ends_with("the licence is over"), "{shown}");
        assert!(shown.starts_with("loading ") || shown.starts_with("plugins "), "{shown}");
        assert!(shown.len() <= MAX_SHOWN_BYTES);
        assert_eq!(end_of(b"no licence found\n", &redactor), "no licence found");
    }

    #[test]
    fn a_key_is_never_shown_in_part_wherever_the_output_is_cut() {
        let phrase = "correct horse battery staple";
        let redactor = Redactor::new(vec![phrase.to_owned(), KEY.to_owned()]);
        for after in MAX_SHOWN_BYTES - 2 * phrase.len()..MAX_SHOWN_BYTES {
            let shown = end_of(format!("it was {phrase} {}", "x".repeat(after)).as_bytes(), &redactor);
            assert!(!shown.contains("staple"), "{shown}");
        }
        // The kept part begins inside a key, and the rest without its secrets is short enough to be shown whole.
        let tail = format!("{KEY} {KEY}")[4..].to_owned() + &" ".repeat(MAX_TAIL_BYTES);
        let shown = end_of(&tail.as_bytes()[..MAX_TAIL_BYTES], &redactor);
        assert!(!shown.is_empty() && !shown.contains("nop"), "{shown}");
    }
}
