//! Reading the workspace: walks, ignore files, globs, time limits for blocking work, and the files a task has read.

pub(crate) mod access_advice;
pub(crate) mod blocking;
pub(crate) mod encoding;
pub(crate) mod globs;
pub(crate) mod ignore_rules;
pub(crate) mod interruptible;
pub(crate) mod parallel;
pub(crate) mod read_state;
pub(crate) mod walk;
pub(crate) mod workspace_digest;
