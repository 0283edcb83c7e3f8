//! Bounds: limits of size, number and time.

use std::time::Duration;

use crate::session::time_limits::WRITE_TIME;

/// Bounds for every client, with or without a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Concurrent connections. Further clients get an error.
    pub connections: usize,
    /// Concurrent sessions. A further one replaces the one unused for longest.
    pub sessions: usize,
    /// Requests under way in one session.
    pub calls: usize,
    /// The body of one request.
    pub body_bytes: usize,
    /// Total size of the bodies being read and parsed at the same time.
    pub all_bodies_bytes: usize,
    /// Time for a request's head to arrive; also the idle timeout of a connection.
    pub head_time: Duration,
    /// Time for a request's body to arrive.
    pub body_time: Duration,
    /// Time for a client to resume reading a reply.
    pub write_time: Duration,
    /// Time without a client in a session with requests under way, after which the client counts as gone.
    pub absence: Duration,
    /// Time without a client in a session with nothing under way, after which it ends.
    pub idleness: Duration,
    /// Time for pending replies at the end.
    pub farewell: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 256,
            sessions: 128,
            calls: 128,
            body_bytes: 4 << 20,
            all_bodies_bytes: 32 << 20,
            head_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            write_time: WRITE_TIME,
            absence: Duration::from_secs(30),
            idleness: Duration::from_hours(1),
            farewell: Duration::from_secs(5),
        }
    }
}
