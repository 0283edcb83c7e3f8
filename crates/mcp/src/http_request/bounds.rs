//! Bounds: how much of everything there may be, and for how long.

use std::time::Duration;

use crate::session::time_limits::WRITE_TIME;

/// What holds for everybody who comes, with or without a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once. Whoever comes beyond them is told so.
    pub connections: usize,
    /// Sessions at once. When there are as many, the one that nobody has used for longest makes room.
    pub sessions: usize,
    /// Requests under way in one session.
    pub calls: usize,
    /// The body of one request.
    pub body_bytes: usize,
    /// The bodies that are read and understood at the same time, together.
    pub all_bodies_bytes: usize,
    /// Until a request's head is there; also how long a connection may lie idle.
    pub head_time: Duration,
    /// Until a request's body is there.
    pub body_time: Duration,
    /// Until somebody reads on who has stopped reading an answer.
    pub write_time: Duration,
    /// How long nobody may be there in whose session a request is under way. Then the client counts as gone.
    pub absence: Duration,
    /// How long nobody may be there in whose session nothing is under way.
    pub idleness: Duration,
    /// For answers under way at the end.
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
