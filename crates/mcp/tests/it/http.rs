//! The server over HTTP as somebody outside meets it: bytes on a socket.

mod bounds;
mod ending;
mod gate;
pub(crate) mod host;
mod raw;
mod sessions;
