//! The connection to one server: made on demand, shared by all callers, and made anew when it is lost. After repeated
//! failures there is a growing pause, in which callers get an error at once.
//!
//! A start is a task of its own. Callers that come meanwhile wait for the same start, and one that stops waiting does
//! not end it. So a server gets its full time to start, once, and the result is everybody's.

use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use sortie_agents::ServerDefinition;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

use crate::client::live_connection::{Attempt, LiveConnection};
use crate::client::server_error::ServerError;
use crate::client::tool_listing::ToolListing;
use crate::transport::ServerGround;

const LONGEST_REST: Duration = Duration::from_mins(1);
/// A server that ran this long is healthy, whatever happened before.
const STEADY: Duration = Duration::from_mins(1);

pub(super) struct Connection {
    server: ServerDefinition,
    ground: Arc<ServerGround>,
    is_sortie: OnceLock<bool>,
    /// Never held across an await.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    standing: Standing,
    /// Failures in a row.
    failures: u32,
    /// End of the pause, and its reason.
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

/// Result of a start, for all who wait for it.
type Start = Shared<BoxFuture<'static, Result<Arc<LiveConnection>, ServerError>>>;

impl Connection {
    pub(super) fn new(server: ServerDefinition, ground: Arc<ServerGround>) -> Self {
        Self { server, ground, is_sortie: OnceLock::new(), state: Mutex::default() }
    }

    /// True if the server is Sortie itself. It is looked up once, as it was at the first call.
    pub(super) fn is_sortie(&self) -> bool {
        *self.is_sortie.get_or_init(|| self.ground.is_sortie(&self.server))
    }

    pub(super) fn name(&self) -> &str {
        &self.server.name
    }

    /// Returns the server's current tools. If the server has ended the session, it is asked once more in a new one.
    pub(super) async fn ready(self: &Arc<Self>) -> Result<Arc<ToolListing>, ServerError> {
        let within = self.server.start_within;
        let listed = match self.listed(within, Attempt::First).await {
            Err(ServerError::SessionGone { .. }) => self.listed(within, Attempt::Last).await,
            listed => listed,
        };
        listed.map(|(_, listing)| listing)
    }

    /// Returns the server's tools, or the last known ones if it does not list them in this time. A start under way
    /// continues.
    pub(super) async fn ready_within(self: &Arc<Self>, time: Duration) -> Result<Arc<ToolListing>, ServerError> {
        if let Ok(ready) = timeout(time, self.ready()).await {
            return ready;
        }
        let known = match &self.state().standing {
            Standing::Up(link) => link.known(),
            Standing::Away | Standing::Starting(..) | Standing::Closed => None,
        };
        known.ok_or_else(|| ServerError::Starting { server: self.server.name.clone() })
    }

    /// Returns the connected server and its current tools, for a call. A server that does one thing at a time lists
    /// them only after others' calls, so the list may take as long as a call.
    pub(super) async fn listed_for_call(
        self: &Arc<Self>,
        attempt: Attempt,
    ) -> Result<(Arc<LiveConnection>, Arc<ToolListing>), ServerError> {
        self.listed(self.server.start_within.max(self.server.call_within), attempt).await
    }

    /// A start has its own time limit; `within` limits the list.
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

    /// Closes it for good. A start under way is aborted.
    pub(super) async fn close(&self) {
        let before = replace(&mut self.state().standing, Standing::Closed);
        match before {
            Standing::Starting(_, start) => start.abort(),
            Standing::Up(link) => link.close().await,
            Standing::Away | Standing::Closed => {}
        }
    }

    /// Returns the live connection, the start under way, or a new start.
    fn start(self: &Arc<Self>) -> Result<Start, ServerError> {
        let mut state = self.state();
        let gone = match &state.standing {
            Standing::Closed => return Err(self.closed()),
            Standing::Starting(start, task) if !task.is_finished() => return Ok(start.clone()),
            Standing::Up(link) if !link.is_over() => {
                return Ok(std::future::ready(Ok(Arc::clone(link))).boxed().shared());
            }
            Standing::Up(link) => Some(Arc::clone(link)),
            // A start that finished without setting a state has panicked.
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

    /// Makes a new link, after the lost one if there was one, and records the result.
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
        // A server that never lists its tools is not ready. Other problems of its list are reported to callers that ask
        // for it.
        link.listing(self.server.start_within, Attempt::Last).await.ok();
        Ok(Arc::new(link))
    }

    /// Fails during the pause after a failure.
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
        let why = "is not started: the program is ending".to_owned();
        ServerError::Unreachable { server: self.server.name.clone(), why }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason of a failed start, for later callers.
fn why(trouble: &ServerError) -> Option<String> {
    match trouble {
        ServerError::Unreachable { why, .. } | ServerError::Unusable { why, .. } => Some(why.clone()),
        ServerError::NotReady { within, .. } => Some(format!("was not ready within {} s", within.as_secs())),
        _ => None,
    }
}

impl State {
    /// Records the end of a start. If the connection was closed meanwhile, the new link is dropped, which ends it.
    fn settle(&mut self, standing: Standing) {
        if !matches!(self.standing, Standing::Closed) {
            self.standing = standing;
        }
    }

    /// Records a failed start, and begins a pause.
    fn fail(&mut self, rest: Duration, why: &str) {
        self.failures += 1;
        let rest = rest.saturating_mul(1 << (self.failures - 1).min(10)).min(rest.max(LONGEST_REST));
        self.rest = Some((Instant::now() + rest, why.to_owned()));
    }

    /// Records a lost connection. The first loss in a while causes no pause.
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
