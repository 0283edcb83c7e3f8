//! Creates the namespaces for the processes to come: directly if privileged, otherwise through a user namespace.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, getgid, getuid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};
use sortie_mutant::is_out;

use crate::system;
use crate::walls::Network;
use crate::walls::report::{During, KeeperFailure};

/// A network without any interface that is up, for all commands that have none. Its lists, such as `/proc/net/tcp`, are
/// empty. One for all is enough, since none of them may make a socket; one for each would take a fifth of their time.
#[derive(Debug)]
pub(crate) struct EmptyNetwork {
    network: OwnedFd,
    /// The user namespace that owns it, if it took one to make it.
    user: Option<OwnedFd>,
}

impl EmptyNetwork {
    /// Makes it in a process of its own, and fails where commands can have no namespaces either.
    pub(crate) fn make() -> Result<Self, KeeperFailure> {
        let making = || "making an empty network".to_owned();
        let (made, makes) = pipe_with(PipeFlags::CLOEXEC).during(making)?;
        let (waits, holds) = pipe_with(PipeFlags::CLOEXEC).during(making)?;
        let Some(maker) = system::fork().during(making)? else {
            drop((made, holds));
            let answer = match unshare_or_as_user(UnshareFlags::NEWNET) {
                Ok(needs_user) => [0, u8::from(needs_user)],
                Err(failure) => [u8::try_from(failure.errno.raw_os_error()).unwrap_or(u8::MAX), 0],
            };
            let told = File::from(makes).write_all(&answer);
            // Ends when the other side has opened the namespaces.
            File::from(waits).read_to_end(&mut Vec::new()).ok();
            system::exit(i32::from(told.is_err()));
        };
        drop((makes, waits));
        let mut answer = [0; 2];
        File::from(made).read_exact(&mut answer).during(making)?;
        let [errno, needs_user] = answer;
        if errno != 0 {
            return Err(KeeperFailure { step: making(), errno: Errno::from_raw_os_error(errno.into()) });
        }
        let opened = Self {
            network: namespace_of(maker, "net").during(making)?,
            user: (needs_user != 0).then(|| namespace_of(maker, "user")).transpose().during(making)?,
        };
        drop(holds);
        Ok(opened)
    }

    fn enter(&self) -> Result<(), KeeperFailure> {
        let user = self.user.iter().map(|user| (user, LinkNameSpaceType::User));
        user.chain([(&self.network, LinkNameSpaceType::Network)])
            .try_for_each(|(namespace, kind)| move_into_link_name_space(namespace.as_fd(), Some(kind)))
            .during(|| "entering an empty network".to_owned())
    }
}

fn namespace_of(process: Pid, kind: &str) -> io::Result<OwnedFd> {
    Ok(File::open(format!("/proc/{}/ns/{kind}", process.as_raw_nonzero()))?.into())
}

/// Makes all children of this process start in new namespaces. This process itself keeps its view of files.
pub(super) fn enter(network: Network, empty: Result<EmptyNetwork, KeeperFailure>) -> Result<(), KeeperFailure> {
    let mut flags = UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    match network {
        Network::Proxy { .. } => flags |= UnshareFlags::NEWNET,
        Network::None if !is_out("empty-network") => {
            let empty = empty?;
            empty.enter()?;
            if empty.user.is_some() {
                // Each command gets its own below that of the network: numbers of processes count by user namespace.
                return unshare_as_user(flags);
            }
        }
        Network::None | Network::All => {}
    }
    unshare_or_as_user(flags).map(drop)
}

/// True if it took a user namespace.
fn unshare_or_as_user(flags: UnshareFlags) -> Result<bool, KeeperFailure> {
    match system::unshare(flags) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => unshare_as_user(flags).map(|()| true),
        other => other.during(|| "making namespaces".to_owned()).map(|()| false),
    }
}

/// Maps the same user and group as outside, and no other.
fn unshare_as_user(flags: UnshareFlags) -> Result<(), KeeperFailure> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    system::unshare(flags | UnshareFlags::NEWUSER).during(|| "making a user namespace".to_owned())?;
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(file, text).during(|| format!("writing {file}"))?;
    }
    Ok(())
}
