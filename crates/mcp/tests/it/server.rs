//! The server as a host sees it, over streams in memory.

mod background;
mod calls;
mod gone;
mod handles;
mod hostile;
mod rough;
