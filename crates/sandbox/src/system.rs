//! System calls that no library offers safely, each behind a safe function; all unsafe code of this crate is here.

mod allocator;
mod descendants;
mod isolation;
mod lifeline;
mod process;
mod service_keeper;

pub use allocator::{give_memory_back, share_memory};
pub(crate) use descendants::Descendants;
pub(crate) use isolation::{MountAttributes, landlock_version, raise_loopback, restrict_mounts, unshare};
pub(crate) use lifeline::{Lifeline, end_group_with, keep_service};
pub(crate) use process::{
    EndedChildren, close_inherited, exit, fork, kill_all_others, set_ended_children, standard_input, used_by_children,
};
