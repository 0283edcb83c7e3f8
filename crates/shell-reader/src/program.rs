//! Programs known by name: those that run other programs, write files or change the shell.

mod builtin;
mod named_files;
mod obeyed;
mod runs;
mod shell;
mod unclear;
mod wrapper;

pub(crate) use self::builtin::{Effect, effect, moves, sets_obeyed};
pub(crate) use self::named_files::{NamedFiles, named_files};
pub(crate) use self::obeyed::{Obeyed, is_computed, is_obeyed, obeyed};
pub(crate) use self::runs::{Runs, Variable};
pub(crate) use self::wrapper::runs;
