//! Drops privileges and sets resource limits, before a process starts the command.

use std::fs;
use std::os::unix::fs::MetadataExt;

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getuid, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits, set_no_new_privs,
};

use crate::walls::Tier;
use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};

/// Sets the limits; all descendants inherit them.
pub(super) fn limit(plan: &Plan) -> Result<(), KeeperFailure> {
    let limits = &plan.limits;
    let mut processes = limits.processes;
    if plan.tier != Tier::Namespaces {
        // Without a namespace, all processes of the user count.
        processes += running_already();
    }
    for (resource, limit) in [
        (Resource::Data, limits.memory),
        (Resource::Nproc, processes),
        (Resource::Fsize, limits.file_size),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Nofile, limits.open_files),
        (Resource::Core, 0),
    ] {
        let limit = Some(limit.min(highest(resource)));
        setrlimit(resource, Rlimit { current: limit, maximum: limit })
            .during(|| format!("limiting {resource:?} to {limit:?}"))?;
    }
    Ok(())
}

/// The highest value allowed without privileges.
fn highest(resource: Resource) -> u64 {
    rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX)
}

fn running_already() -> u64 {
    let user = getuid().as_raw();
    let threads = |entry: std::io::Result<fs::DirEntry>| {
        let tasks = fs::metadata(entry.ok()?.path().join("task")).ok()?;
        (tasks.uid() == user).then(|| tasks.nlink().saturating_sub(2))
    };
    fs::read_dir("/proc").map_or(0, |processes| processes.filter_map(threads).sum())
}

/// Gives up all capabilities, and every way to regain any.
pub(super) fn drop_privileges() -> Result<(), KeeperFailure> {
    let dropping = || "dropping privileges".to_owned();
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED;
    let privileged = rustix::thread::capabilities(None).during(dropping)?.effective.contains(CapabilitySet::SETPCAP);
    if privileged {
        set_capabilities_secure_bits(bits).during(dropping)?;
        for number in 0..u64::BITS {
            match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
                // The kernel has no more of them.
                Err(Errno::INVAL) => break,
                other => other.during(dropping)?,
            }
        }
    }
    clear_ambient_capability_set().during(dropping)?;
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).during(dropping)?;
    set_no_new_privs(true).during(dropping)
}
