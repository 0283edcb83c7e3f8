//! Sessions: the owner of each, the presence of its client, and its expiry.
//!
//! A session belongs to the token that it was started with; for any other it does not exist. Its messages are not seen
//! here.

mod protocol_sessions;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager as _};
use sortie_mutant::is_out;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::http_request::Bounds;
use crate::http_request::refusal::Refusal;
use crate::http_request::token::Principal;
use crate::session::arrivals::Arrivals;
use crate::session::open_requests::OpenRequests;

pub(super) struct Sessions {
    local: Arc<LocalSessionManager>,
    bounds: Bounds,
    book: Mutex<Book>,
    /// Pending replies, in sessions and outside.
    n_owed: watch::Sender<usize>,
}

#[derive(Default)]
struct Book {
    rows: HashMap<SessionId, Row>,
    /// Sessions about to be created.
    n_reserved: usize,
}

struct Row {
    /// `None` until its client knows of it.
    owner: Option<Principal>,
    /// Replies and streams that the client has open.
    n_present: usize,
    /// Time when one of them last began or ended.
    since: Instant,
    calls: Arc<OpenRequests>,
    arrivals: Arc<Arrivals>,
}

impl Row {
    fn is_over(&self, bounds: &Bounds, now: Instant, current: Option<Principal>) -> bool {
        let Some(owner) = self.owner else { return false };
        let is_foreign = current.is_some_and(|current| owner != current);
        let patience = if self.calls.any() { bounds.absence } else { bounds.idleness };
        is_foreign || self.n_present == 0 && now.duration_since(self.since) >= patience
    }
}

impl Sessions {
    pub(super) fn new(bounds: Bounds) -> Arc<Self> {
        let mut local = LocalSessionManager::default();
        // The library would treat a client that listens silently as gone. Presence is tracked here instead.
        local.session_config.keep_alive = None;
        Arc::new(Self { local: Arc::new(local), bounds, book: Mutex::default(), n_owed: watch::Sender::new(0) })
    }

    /// Returns the session of this id, if it belongs to the caller. A session of an older token ends.
    pub(super) fn find(&self, id: &str, principal: Principal) -> Result<SessionId, Refusal> {
        let mut book = self.book();
        let (id, row) = book.rows.get_key_value(id).ok_or(Refusal::UnknownSession)?;
        let (id, is_own) = (id.clone(), row.owner == Some(principal) || is_out("session-owner"));
        if is_own {
            return Ok(id);
        }
        self.end(&mut book, &id);
        Err(Refusal::UnknownSession)
    }

    /// Returns the open requests of a session.
    pub(super) fn calls(&self, id: &SessionId) -> Result<Arc<OpenRequests>, Refusal> {
        self.book().rows.get(id).map(|row| Arc::clone(&row.calls)).ok_or(Refusal::UnknownSession)
    }

    /// Returns the arrivals of a session.
    pub(super) fn arrivals(&self, id: &SessionId) -> Option<Arc<Arrivals>> {
        self.book().rows.get(id).map(|row| Arc::clone(&row.arrivals))
    }

    /// Reserves room for another session.
    pub(super) fn reserve(self: &Arc<Self>) -> Result<Reserved, Refusal> {
        let mut book = self.book();
        let most = self.bounds.sessions;
        if book.rows.len() + book.n_reserved >= most {
            let id = book.longest_unused(&self.bounds).ok_or(Refusal::TooManySessions { n_sessions: most })?;
            self.end(&mut book, &id);
        }
        book.n_reserved += 1;
        Ok(Reserved(Arc::clone(self)))
    }

    /// Assigns a new session to its owner.
    pub(super) fn give(&self, id: &str, principal: Principal) -> Option<SessionId> {
        let mut book = self.book();
        let id = book.rows.get_key_value(id)?.0.clone();
        book.rows.get_mut(&id)?.owner = Some(principal);
        Some(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.book().rows.is_empty()
    }

    /// Ends the sessions whose clients are gone, and those of any but the current token.
    pub(super) fn look_around(&self, current: Option<Principal>) {
        let mut book = self.book();
        let now = Instant::now();
        // A session whose client left before it heard of it has no owner. It may end once no session is about to be
        // assigned.
        let is_nobodys = |row: &Row| row.owner.is_none() && book.n_reserved == 0;
        let is_over = |row: &Row| is_nobodys(row) || row.is_over(&self.bounds, now, current);
        let over = book.rows.iter().filter(|(_, row)| is_over(row));
        for id in over.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.end(&mut book, &id);
        }
    }

    pub(super) fn end_all(&self) {
        let mut book = self.book();
        for id in book.rows.keys().cloned().collect::<Vec<_>>() {
            self.end(&mut book, &id);
        }
    }

    /// Waits until no reply is owed.
    pub(super) async fn settled(&self) {
        // The sender is here: it cannot be gone.
        self.n_owed.subscribe().wait_for(|n_owed| *n_owed == 0).await.ok();
    }

    pub(super) fn enter(&self, id: &SessionId) {
        self.note(id, |row| row.n_present += 1);
    }

    pub(super) fn leave(&self, id: &SessionId) {
        self.note(id, |row| row.n_present = row.n_present.saturating_sub(1));
    }

    pub(super) fn owe(&self) {
        self.n_owed.send_modify(|n_owed| *n_owed += 1);
    }

    pub(super) fn settle(&self) {
        self.n_owed.send_modify(|n_owed| *n_owed = n_owed.saturating_sub(1));
    }

    fn note(&self, id: &SessionId, change: impl FnOnce(&mut Row)) {
        if let Some(row) = self.book().rows.get_mut(id) {
            change(row);
            row.since = Instant::now();
        }
    }

    /// Ends a session, its streams and its open requests.
    fn end(&self, book: &mut Book, id: &SessionId) {
        book.rows.remove(id);
        let (local, id) = (Arc::clone(&self.local), id.clone());
        // The only error is that the session has already ended by itself.
        tokio::spawn(async move { local.close_session(&id).await.ok() });
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Book {
    /// Returns the session that can make room: no client present, nothing under way, and not only since a moment ago.
    fn longest_unused(&self, bounds: &Bounds) -> Option<SessionId> {
        let now = Instant::now();
        let is_unused =
            |row: &Row| row.n_present == 0 && !row.calls.any() && now.duration_since(row.since) >= bounds.absence;
        let unused = self.rows.iter().filter(|(_, row)| is_unused(row));
        unused.min_by_key(|(_, row)| row.since).map(|(id, _)| id.clone())
    }
}

/// Room held for a session until it is created, or is not.
pub(super) struct Reserved(Arc<Sessions>);

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut book = self.0.book();
        book.n_reserved = book.n_reserved.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rmcp::model::RequestId;

    use super::*;
    use crate::http_request::Token;

    fn principal(letter: &str) -> Principal {
        Token::new(&letter.repeat(32)).unwrap().principal()
    }

    /// True if a session that was last used this many seconds ago has expired.
    fn is_over(n_present: usize, has_calls: bool, seconds: u64, current: Option<Principal>) -> bool {
        let bounds = Bounds::default();
        let calls = OpenRequests::new(bounds.calls);
        if has_calls {
            calls.begin(RequestId::Number(1)).unwrap_or_else(|_| unreachable!("it is the first one")).pass_on();
        }
        let since = Instant::now();
        let row = Row { owner: Some(principal("a")), n_present, since, calls, arrivals: Arrivals::new() };
        row.is_over(&bounds, since + Duration::from_secs(seconds), current)
    }

    #[test]
    fn a_session_without_calls_lasts_longer() {
        let current = Some(principal("a"));
        assert!(!is_over(0, true, 29, current) && is_over(0, true, 30, current));
        assert!(!is_over(0, false, 3599, current) && is_over(0, false, 3600, current));
    }

    #[test]
    fn a_present_client_keeps_its_session_until_the_token_changes() {
        for has_calls in [true, false] {
            assert!(!is_over(1, has_calls, 1_000_000, Some(principal("a"))));
            assert!(!is_over(1, has_calls, 1_000_000, None));
            assert!(is_over(1, has_calls, 0, Some(principal("b"))));
        }
    }
}
