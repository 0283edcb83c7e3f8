//! System calls that no library offers safely, each behind a safe function; all unsafe code of this crate is here.

mod allocator;
mod descendants;
mod isolation;
mod lifeline;
mod process;
mod service_keeper;
mod told_calls;

pub use allocator::{give_memory_back, share_memory};
pub(crate) use descendants::Descendants;
pub(crate) use isolation::{MountAttributes, landlock_version, raise_loopback, restrict_mounts, unshare};
pub(crate) use lifeline::{Lifeline, end_group_with, keep_service};
pub(crate) use process::{
    EndedChildren, become_fork_server, exit, fork, kill_all_others, set_ended_children, used_by_children,
};
pub(crate) use told_calls::{ToldAnswer, ToldCall, answer_told, install_filter, install_silent_filter, receive_told};
