//! Pinned directories: resolving paths in them, guarding access, and opening without following links.
//!
//! Every path is judged by where it leads, never by how it is written.

mod error;
mod file_kind;
mod file_version;
mod guard;
mod guarded_roots;
mod resolve_path;
mod roots;
pub(crate) mod safe_open;

pub use error::{AccessError, WorkspaceError};
pub use file_kind::FileKind;
pub use file_version::Stamp;
pub use guard::{Access, Guard};

pub(crate) use error::shown;
pub(crate) use guard::Guards;
pub(crate) use guarded_roots::{GuardedRoots, MAX_ATTEMPTS, Opened};
pub(crate) use roots::Place;
