//! Creates the namespaces for the processes to come: directly if privileged, otherwise through a user namespace.

use std::fs;
use std::io;

use rustix::process::{getgid, getuid};
use rustix::thread::UnshareFlags;

use crate::system;
use crate::walls::Network;
use crate::walls::report::{During, KeeperFailure};

/// Makes all children of this process start in new namespaces. This process itself keeps its view of files.
pub(super) fn enter(network: Network) -> Result<(), KeeperFailure> {
    let mut flags = UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    if matches!(network, Network::Proxy { .. }) {
        flags |= UnshareFlags::NEWNET;
    }
    match system::unshare(flags) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => enter_as_user(flags),
        other => other.during(|| "making namespaces".to_owned()),
    }
}

/// Maps the same user and group as outside, and no other.
fn enter_as_user(flags: UnshareFlags) -> Result<(), KeeperFailure> {
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
