//! The connection to one server: made when it is needed, shared by all who do, and made anew when it is gone. One that
//! fails again and again is left alone for longer and longer, and whoever wants it meanwhile is told at once.

use std::sync::Arc;
use std::time::Duration;

use sortie_agents::ServerDefinition;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::ServerGround;
use super::link::Link;
use super::listing::Listing;
use super::trouble::Trouble;

const LONGEST_REST: Duration = Duration::from_mins(1);
/// A server that ran for so long did well, whatever it did before.
const STEADY: Duration = Duration::from_mins(1);

pub(super) struct Connection {
    server: ServerDefinition,
    ground: Arc<ServerGround>,
    /// Held while it is being made: there is never a second one.
    state: Mutex<State>,
}

struct State {
    link: Option<Arc<Link>>,
    /// How often in a row it came to nothing.
    failures: u32,
    /// Until when it is left alone, and why.
    rest: Option<(Instant, String)>,
    is_closed: bool,
}

impl Connection {
    pub(super) fn new(server: ServerDefinition, ground: Arc<ServerGround>) -> Self {
        let state = State { link: None, failures: 0, rest: None, is_closed: false };
        Self { server, ground, state: Mutex::new(state) }
    }

    pub(super) fn name(&self) -> &str {
        &self.server.name
    }

    pub(super) fn call_within(&self) -> Duration {
        self.server.call_within
    }

    /// The server's tools as they are now, within the time that a start may take.
    pub(super) async fn ready(&self) -> Result<Arc<Listing>, Trouble> {
        self.in_time(async { self.link().await?.listing().await }).await
    }

    /// The server, connected, within the same time.
    pub(super) async fn connected(&self) -> Result<Arc<Link>, Trouble> {
        self.in_time(self.link()).await
    }

    /// Ends it for good.
    pub(super) async fn close(&self) {
        let link = {
            let mut state = self.state.lock().await;
            state.is_closed = true;
            state.link.take()
        };
        if let Some(link) = link {
            link.close().await;
        }
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
        let within = self.server.start_within;
        let Ok(done) = timeout(within, work).await else {
            let trouble = Trouble::NotReady { server: self.server.name.clone(), within, said: String::new() };
            // Whoever holds it now sees for itself.
            if let Ok(mut state) = self.state.try_lock() {
                state.link = None;
                state.fail(self.ground.rest, &format!("was not ready within {} s", within.as_secs()));
            }
            return Err(trouble);
        };
        done
    }

    async fn link(&self) -> Result<Arc<Link>, Trouble> {
        let mut state = self.state.lock().await;
        let server = || self.server.name.clone();
        if state.is_closed {
            return Err(Trouble::Unreachable {
                server: server(),
                why: "is not started any more: the program ends".to_owned(),
            });
        }
        if let Some(link) = state.link.take() {
            if !link.is_over() {
                return Ok(Arc::clone(state.link.insert(link)));
            }
            let why = link.last_words().await;
            state.lose(self.ground.rest, link.lived(), &why);
        }
        if let Some((until, why)) = &state.rest
            && let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        {
            return Err(Trouble::Resting { server: server(), why: why.clone(), left });
        }
        match Link::open(&self.server, &self.ground).await {
            Ok(link) => {
                state.rest = None;
                Ok(Arc::clone(state.link.insert(Arc::new(link))))
            }
            Err(trouble) => {
                if let Trouble::Unreachable { why, .. } | Trouble::Unusable { why, .. } = &trouble {
                    state.fail(self.ground.rest, why);
                }
                Err(trouble)
            }
        }
    }
}

impl State {
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
