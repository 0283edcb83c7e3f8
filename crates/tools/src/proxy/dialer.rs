//! `Dialer`: connects to permitted hosts, at exactly the address that was checked.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sortie_mutant::is_out;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::port::shell_reach::ShellReach;
use crate::web::guard::{Guard, GuardError};
use crate::web::target::Target;

/// Maximum time to find an address and connect to it, in total.
const WITHIN: Duration = Duration::from_secs(30);

/// Maximum time to connect to one address before trying the next.
const EACH_WITHIN: Duration = Duration::from_secs(10);

/// Connects one command to the hosts it may reach, and records failed connections.
pub(super) struct Dialer {
    reach: Arc<dyn ShellReach>,
    guard: Guard,
    refusals: Refusals,
}

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(super) enum DialError {
    #[error("`{host}` was not reached: {why}")]
    Refused { host: String, why: String },
    #[error("{0}")]
    Guard(#[from] GuardError),
    #[error("`{host}` was not reached at {address}: {why}")]
    Unreachable { host: String, address: SocketAddr, why: String },
    #[error("`{host}` was not reached within {} s", WITHIN.as_secs())]
    TooSlow { host: String },
}

impl Dialer {
    pub(super) fn new(reach: Arc<dyn ShellReach>, guard: Guard) -> Self {
        Self { reach, guard, refusals: Refusals::default() }
    }

    /// Connects to a target, if it may be reached. Otherwise its name is not even looked up: a lookup alone would leak
    /// it.
    pub(super) async fn open(&self, target: &Target) -> Result<TcpStream, DialError> {
        let opened = match self.reach.may_reach(target.host()) {
            Err(why) if !is_out("granted-hosts") => Err(DialError::Refused { host: target.host().to_owned(), why }),
            _ => self.connect_in_time(target).await,
        };
        opened.inspect_err(|error| self.refuse(&error.to_string()))
    }

    async fn connect_in_time(&self, target: &Target) -> Result<TcpStream, DialError> {
        let too_slow = |_| Err(DialError::TooSlow { host: target.host().to_owned() });
        timeout(WITHIN, self.connect(target)).await.unwrap_or_else(too_slow)
    }

    async fn connect(&self, target: &Target) -> Result<TcpStream, DialError> {
        let host = target.host().to_owned();
        let mut failure = DialError::Guard(GuardError::NoAddress { host: host.clone() });
        for address in self.guard.addresses(target).await? {
            let why = match timeout(EACH_WITHIN, dial(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => error.to_string(),
                Err(_) => format!("no answer within {} s", EACH_WITHIN.as_secs()),
            };
            failure = DialError::Unreachable { host: host.clone(), address, why };
        }
        Err(failure)
    }

    /// Records a failed connection.
    pub(super) fn refuse(&self, words: &str) {
        self.refusals.add(words);
    }

    pub(super) fn refused(&self) -> Vec<String> {
        self.refusals.list()
    }
}

impl DialError {
    /// True if the connection was refused, not just failed.
    pub(super) fn is_refusal(&self) -> bool {
        use GuardError::{NoAddress, NotFound};
        let failed = |error: &GuardError| matches!(error, NotFound { .. } | NoAddress { .. });
        match self {
            Self::Refused { .. } => true,
            Self::Guard(error) => !failed(error),
            Self::Unreachable { .. } | Self::TooSlow { .. } => false,
        }
    }
}

#[cfg_attr(not(test), expect(clippy::disallowed_methods, reason = "the proxy is what connects on behalf of commands"))]
async fn dial(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Maximum number of recorded refusals: a model reads each, and more say nothing new.
const MAX_REFUSALS: usize = 16;

/// Refusals in order, without repeats.
#[derive(Default)]
struct Refusals(Mutex<Refused>);

#[derive(Default)]
struct Refused {
    first: Vec<String>,
    has_more: bool,
}

impl Refusals {
    fn add(&self, words: &str) {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.first.iter().any(|known| known == words) {
            return;
        }
        if refused.first.len() < MAX_REFUSALS {
            refused.first.push(words.to_owned());
        } else {
            refused.has_more = true;
        }
    }

    fn list(&self) -> Vec<String> {
        let refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let more = refused.has_more.then(|| format!("more hosts were not reached; these are the first {MAX_REFUSALS}"));
        refused.first.iter().cloned().chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refusal_is_listed_once_up_to_a_bound_with_a_note() {
        let refusals = Refusals::default();
        for number in (0..MAX_REFUSALS).chain(0..MAX_REFUSALS) {
            refusals.add(&number.to_string());
        }
        assert_eq!(refusals.list(), (0..MAX_REFUSALS).map(|number| number.to_string()).collect::<Vec<_>>());
        refusals.add("another");
        assert_eq!(refusals.list().len(), MAX_REFUSALS + 1);
        assert_eq!(refusals.list()[MAX_REFUSALS], "more hosts were not reached; these are the first 16");
    }
}
