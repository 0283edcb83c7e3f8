//! The connection to one server: made when it is needed, shared by all who do, and made anew when it is gone. One that
//! fails again and again is left alone for longer and longer, and whoever wants it meanwhile is told at once.
//!
//! A start is a task of its own. Whoever comes meanwhile waits for the same one, and who waits no longer does not end
//! it: a server has all of its time to start, once, and what became of it counts for everybody.

use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use sortie_agents::ServerDefinition;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use crate::client::live_connection::{Attempt, LiveConnection};
use crate::client::server_error::ServerError;
use crate::tool_list::tool_listing::ToolListing;
use crate::transport::ServerGround;

const LONGEST_REST: Duration = Duration::from_mins(1);
/// A server that ran for so long did well, whatever it did before.
const STEADY: Duration = Duration::from_mins(1);

pub(super) struct Connection {
    server: ServerDefinition,
    ground: Arc<ServerGround>,
    /// Never held while anybody waits for anything.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    standing: Standing,
    /// How often in a row it came to nothing.
    failures: u32,
    /// Until when it is left alone, and why.
    rest: Option<(Instant, String)>,
}

#[derive(Default)]
enum Standing {
    #[default]
    Away,
    Starting(Start, AbortHandle),
    Up(Arc<LiveConnection>),
    Closed,
}

/// What a start comes to, for all who wait for it.
type Start = Shared<BoxFuture<'static, Result<Arc<LiveConnection>, ServerError>>>;

impl Connection {
    pub(super) fn new(server: ServerDefinition, ground: Arc<ServerGround>) -> Self {
        Self { server, ground, state: Mutex::default() }
    }

    pub(super) fn name(&self) -> &str {
        &self.server.name
    }

    /// The server's tools as they are now. One that has ended the session is asked once more, in a new one.
    pub(super) async fn ready(self: &Arc<Self>) -> Result<Arc<ToolListing>, ServerError> {
        let within = self.server.start_within;
        let listed = match self.listed(within, Attempt::First).await {
            Err(ServerError::SessionGone { .. }) => self.listed(within, Attempt::Last).await,
            listed => listed,
        };
        listed.map(|(_, listing)| listing)
    }

    /// The server, connected, and its tools as they are now, for a call. A server that does one thing at a time lists
    /// them when it is done with what others have called, so the list has as long as the call.
    pub(super) async fn listed_for_call(
        self: &Arc<Self>,
        attempt: Attempt,
    ) -> Result<(Arc<LiveConnection>, Arc<ToolListing>), ServerError> {
        self.listed(self.server.start_within.max(self.server.call_within), attempt).await
    }

    /// A start ends in time by itself, and the list within what is said here.
    async fn listed(
        self: &Arc<Self>,
        within: Duration,
        attempt: Attempt,
    ) -> Result<(Arc<LiveConnection>, Arc<ToolListing>), ServerError> {
        let link = self.start()?.await?;
        let Ok(listing) = timeout(within, link.listing(within, attempt)).await else {
            link.has_not_listed();
            return Err(link.not_listed(within));
        };
        Ok((link, listing?))
    }

    /// Ends it for good. A start under way is broken off.
    pub(super) async fn close(&self) {
        let before = replace(&mut self.state().standing, Standing::Closed);
        match before {
            Standing::Starting(_, start) => start.abort(),
            Standing::Up(link) => link.close().await,
            Standing::Away | Standing::Closed => {}
        }
    }

    /// What is there, or the start that is under way, or a new one.
    fn start(self: &Arc<Self>) -> Result<Start, ServerError> {
        let mut state = self.state();
        let gone = match &state.standing {
            Standing::Closed => return Err(self.closed()),
            Standing::Starting(start, task) if !task.is_finished() => return Ok(start.clone()),
            Standing::Up(link) if !link.is_over() => {
                return Ok(std::future::ready(Ok(Arc::clone(link))).boxed().shared());
            }
            Standing::Up(link) => Some(Arc::clone(link)),
            // A start that has ended without a word of how has panicked.
            Standing::Starting(..) | Standing::Away => {
                self.rested(&state)?;
                None
            }
        };
        let task = tokio::spawn(Arc::clone(self).made(gone));
        let (abort, closed) = (task.abort_handle(), self.closed());
        let start = task.map(|made| made.unwrap_or(Err(closed))).boxed().shared();
        state.standing = Standing::Starting(start.clone(), abort);
        Ok(start)
    }

    /// A new link, after the one that is gone, if there was one; noted, whatever comes of it.
    async fn made(self: Arc<Self>, gone: Option<Arc<LiveConnection>>) -> Result<Arc<LiveConnection>, ServerError> {
        if let Some(gone) = gone {
            let (lived, why) = (gone.lived(), gone.last_words().await);
            let mut state = self.state();
            if gone.has_done_its_part() {
                state.failures = 0;
            } else {
                state.lose(self.ground.rest, lived, &why);
            }
            if let Err(resting) = self.rested(&state) {
                state.settle(Standing::Away);
                return Err(resting);
            }
        }
        let opened = timeout(self.server.start_within, self.opened()).await.unwrap_or_else(|_| Err(self.not_ready()));
        let mut state = self.state();
        match &opened {
            Ok(link) => {
                state.rest = None;
                state.settle(Standing::Up(Arc::clone(link)));
            }
            Err(trouble) => {
                if let Some(why) = why(trouble) {
                    state.fail(self.ground.rest, &why);
                }
                state.settle(Standing::Away);
            }
        }
        drop(state);
        opened
    }

    async fn opened(&self) -> Result<Arc<LiveConnection>, ServerError> {
        let link = LiveConnection::open(&self.server, &self.ground).await?;
        // Who never lists its tools is not ready. What else is wrong with its list is told to whoever asks for it.
        link.listing(self.server.start_within, Attempt::Last).await.ok();
        Ok(Arc::new(link))
    }

    /// Whether it may be tried again.
    fn rested(&self, state: &State) -> Result<(), ServerError> {
        let Some((until, why)) = &state.rest else { return Ok(()) };
        match until.checked_duration_since(Instant::now()) {
            None | Some(Duration::ZERO) => Ok(()),
            Some(left) => Err(ServerError::Resting { server: self.server.name.clone(), why: why.clone(), left }),
        }
    }

    fn not_ready(&self) -> ServerError {
        let within = self.server.start_within;
        ServerError::NotReady { server: self.server.name.clone(), within, said: String::new() }
    }

    fn closed(&self) -> ServerError {
        let why = "is not started any more: the program ends".to_owned();
        ServerError::Unreachable { server: self.server.name.clone(), why }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What to say of a failed start to those who come later.
fn why(trouble: &ServerError) -> Option<String> {
    match trouble {
        ServerError::Unreachable { why, .. } | ServerError::Unusable { why, .. } => Some(why.clone()),
        ServerError::NotReady { within, .. } => Some(format!("was not ready within {} s", within.as_secs())),
        _ => None,
    }
}

impl State {
    /// How a start ends. Where all has ended meanwhile, what was started is dropped, and so ends, too.
    fn settle(&mut self, standing: Standing) {
        if !matches!(self.standing, Standing::Closed) {
            self.standing = standing;
        }
    }

    /// It could not be made.
    fn fail(&mut self, rest: Duration, why: &str) {
        self.failures += 1;
        let rest = rest.saturating_mul(1 << (self.failures - 1).min(10)).min(rest.max(LONGEST_REST));
        self.rest = Some((Instant::now() + rest, why.to_owned()));
    }

    /// It is gone. The first time in a while it is made anew at once.
    fn lose(&mut self, rest: Duration, lived: Duration, why: &str) {
        if lived >= STEADY {
            self.failures = 0;
        }
        if self.failures == 0 {
            self.failures = 1;
        } else {
            self.fail(rest, why);
        }
    }
}
