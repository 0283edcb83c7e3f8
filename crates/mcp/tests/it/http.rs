//! The server over HTTP, seen from outside: bytes on a socket.

mod bounds;
mod ending;
mod gate;
pub(crate) mod host;
mod raw;
mod sessions;
