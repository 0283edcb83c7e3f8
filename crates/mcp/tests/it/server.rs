//! The server as a host sees it, over streams in memory.

mod approvals;
mod background;
mod calls;
mod gone;
mod handles;
mod hints;
mod hostile;
mod rough;
