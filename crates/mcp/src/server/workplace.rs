//! The office of a session: that of the roots which its host declares, or else that of the directory in which the
//! server was started.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rmcp::service::{Peer, RoleServer};
use sortie_protocol::{Failure, FailureCode};
use tokio::sync::{Mutex, watch};
use url::Url;

use crate::server::office::Office;

/// Time limit for a host's answer about its roots.
const PATIENCE: Duration = Duration::from_secs(10);

/// Most roots that are looked at.
const MOST_ROOTS: usize = 64;

/// Roots of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// Directories that it names, in its order; they need not exist.
    pub directories: Vec<PathBuf>,
    /// Notices about roots that name no directory here, or about a host that did not answer.
    pub notices: Vec<String>,
}

/// Opens the offices of workspaces.
pub trait Offices: Send + Sync {
    /// Returns the office for these roots: the same one for the same roots. Blocks. A failure answers every call.
    fn at(&self, roots: &Roots) -> Result<Arc<Office>, Failure>;
}

/// Office of one session.
pub(super) struct Workplace {
    /// `None` if roots make no difference.
    offices: Option<Arc<dyn Offices>>,
    current: RwLock<Arc<Office>>,
    /// True once the host's roots are known; held while it is asked.
    is_settled: Mutex<bool>,
    /// Number of times that the session has got another office.
    moves: watch::Sender<u64>,
}

impl Workplace {
    pub(super) fn new(office: Arc<Office>, offices: Option<Arc<dyn Offices>>) -> Self {
        Self { offices, current: RwLock::new(office), is_settled: Mutex::default(), moves: watch::Sender::default() }
    }

    /// Returns the office as far as it is known.
    pub(super) fn current(&self) -> Arc<Office> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the office, and first asks the host for its roots if it has any.
    pub(super) async fn office(&self, peer: &Peer<RoleServer>) -> Arc<Office> {
        let Some(offices) = self.offices.as_ref().filter(|_| has_roots(peer)) else { return self.current() };
        let mut is_settled = self.is_settled.lock().await;
        if !*is_settled {
            let (offices, roots) = (Arc::clone(offices), roots_of(peer).await);
            let opened = tokio::task::spawn_blocking(move || offices.at(&roots)).await;
            let opened = opened.unwrap_or_else(|error| Err(Failure::new(FailureCode::Internal, error.to_string())));
            let office = opened.unwrap_or_else(|refusal| self.current().refusing(refusal));
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = office;
            *is_settled = true;
        }
        drop(is_settled);
        self.current()
    }

    /// Asks for the roots again, because they have changed. Calls under way keep their office.
    pub(super) async fn ask_again(&self, peer: &Peer<RoleServer>) {
        let before = self.office(peer).await;
        *self.is_settled.lock().await = false;
        if !Arc::ptr_eq(&before, &self.office(peer).await) {
            self.moves.send_modify(|moves| *moves += 1);
        }
    }

    /// Returns a watch that changes whenever the session gets another office.
    pub(super) fn moves(&self) -> watch::Receiver<u64> {
        self.moves.subscribe()
    }
}

/// True if the host declares roots. From the revision 2026-07-28 on, a server sends no requests.
fn has_roots(peer: &Peer<RoleServer>) -> bool {
    peer.peer_info().is_some_and(|host| host.protocol_version.has_initialize() && host.capabilities.roots.is_some())
}

#[expect(deprecated, reason = "hosts of today's revisions have roots; the next one asks in another way")]
async fn roots_of(peer: &Peer<RoleServer>) -> Roots {
    let listed = match tokio::time::timeout(PATIENCE, peer.list_roots()).await {
        Ok(Ok(listed)) => listed.roots,
        Ok(Err(error)) => return Roots::unknown(&error.to_string()),
        Err(_) => return Roots::unknown(&format!("no answer within {} s", PATIENCE.as_secs())),
    };
    let mut roots = Roots::default();
    for root in listed.into_iter().take(MOST_ROOTS) {
        match directory(&root.uri) {
            Ok(directory) => roots.directories.push(directory),
            Err(why) => roots.notices.push(format!("the host's root `{}` is left out: {why}", shown(&root.uri))),
        }
    }
    roots
}

impl Roots {
    fn unknown(why: &str) -> Self {
        let notices = vec![format!("the host declares roots and did not name them ({why})")];
        Self { directories: Vec::new(), notices }
    }
}

/// Returns the directory that a URI names.
fn directory(uri: &str) -> Result<PathBuf, &'static str> {
    let url = Url::parse(uri).map_err(|_| "it is no URI")?;
    if url.scheme() != "file" {
        return Err("only `file` URIs name directories of this machine");
    }
    url.to_file_path().map_err(|()| "it names no directory of this machine")
}

/// A host's own text on one short line.
fn shown(uri: &str) -> String {
    const MOST_CHARS: usize = 200;
    uri.chars().filter(|letter| !letter.is_control()).take(MOST_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_a_directory_of_this_machine() {
        for (uri, path) in [
            ("file:///srv/project", "/srv/project"),
            ("file:///srv/a%20b/%C3%A9", "/srv/a b/é"),
            ("file://localhost/srv", "/srv"),
            ("file:///srv/", "/srv/"),
        ] {
            assert_eq!(directory(uri), Ok(PathBuf::from(path)), "{uri}");
        }
        for uri in ["https://example.com/a", "vscode-remote://host/a", "/srv/project", "", "file://elsewhere/srv"] {
            assert!(directory(uri).is_err(), "{uri}");
        }
    }
}
