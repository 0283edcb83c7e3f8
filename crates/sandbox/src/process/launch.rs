//! Runs another instance of this program, as the fork server for its keepers.

use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use crate::keeper::KeeperEnds;
use crate::process::fork_server::{self, ForkServer};
use crate::walls::SpawnError;

static ENTERED: AtomicBool = AtomicBool::new(false);

/// Must be called before anything else in `main`. In a process started by this crate it does that process's work and
/// does not return.
pub fn enter() {
    if std::env::args_os().next().is_some_and(|name| name == OsStr::new(fork_server::NAME)) {
        fork_server::serve();
    }
    ENTERED.store(true, Ordering::Relaxed);
}

/// Calls [`enter`] before `main`, for programs without a `main` of their own, such as test harnesses.
#[macro_export]
macro_rules! enter_before_main {
    () => {
        const _: () = {
            // SAFETY: the loader calls the functions in this section, with the C convention and before any thread is
            // started.
            #[unsafe(link_section = ".init_array")]
            #[used]
            static BEFORE_MAIN: extern "C" fn() = {
                extern "C" fn before_main() {
                    $crate::process::enter();
                }
                before_main
            };
        };
    };
}

/// A program that calls [`enter`] first in its `main`. Create it once and keep it: it has a process running from the
/// first command until the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    server: Arc<Mutex<Option<ForkServer>>>,
}

impl Program {
    /// This program, even if its file has been replaced since. Fails if it has not called [`enter`]: it would start
    /// over instead of serving keepers.
    pub fn this() -> Result<Self, SpawnError> {
        if ENTERED.load(Ordering::Relaxed) {
            Ok(Self::at("/proc/self/exe".into()))
        } else {
            Err(SpawnError::NotEntered)
        }
    }

    /// Another program, which the caller knows to call [`enter`].
    pub fn at(path: PathBuf) -> Self {
        Self { path, server: Arc::default() }
    }

    /// Starts a keeper with only these descriptors. Replaces a fork server that was killed.
    pub(super) fn keeper(&self, ends: &KeeperEnds) -> io::Result<()> {
        let mut server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*server {
            match running.keeper(ends) {
                Err(error) if is_gone(&error) => *server = None,
                other => return other,
            }
        }
        let started = server.insert(ForkServer::start(&self.path)?);
        started.keeper(ends)
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED | Errno::NOTCONN))
}
