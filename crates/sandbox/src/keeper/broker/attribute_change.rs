//! Changes of a file's mode and times that the broker makes for a command, in the places where it may write.
//!
//! The broker reads the arguments once and opens the file itself, so nothing can be swapped afterwards. The place of
//! the open file is judged, and the change is made to that file.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Timespec, Timestamps, chmod, fstat, open, openat, readlink, utimensat};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::getuid;

use crate::keeper::broker::caller::{WORKING_DIRECTORY, its_own, named, numbers, path};
use crate::system::ToldCall;
use crate::walls::filter::{self, SYS_FCHMODAT2};
use crate::walls::plan::Plan;

/// Reason why a change is not made.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Denial {
    /// The walls forbid it.
    Refused,
    /// The system would not do it either, or could not.
    Failed(Errno),
}

impl From<Errno> for Denial {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

/// A file as a call names it.
enum Target {
    Descriptor(u64),
    Path { directory: u64, address: u64, flags: u64 },
}

enum Change {
    Mode(u64),
    Times(Timestamps),
    Owner { user: u64, group: u64 },
}

/// Leaves the owner or the group as it is.
const UNCHANGED: u32 = u32::MAX;

/// Bits that run a program as its owner or its group. Within the walls they have no effect, but the file outlives them.
const PRIVILEGE_BITS: u32 = 0o6000;

const NANOSECONDS_PER_MICROSECOND: i64 = 1000;

/// Makes the change that a call asks for.
pub(super) fn change(plan: &Plan, call: &ToldCall) -> Result<(), Denial> {
    if filter::is_extended(call.number) {
        // Programs know file systems without them, and do without.
        return Err(Errno::OPNOTSUPP.into());
    }
    let (target, change) = read(call)?;
    let file = target.open(call.thread)?;
    let stat = fstat(&file)?;
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    let place = PathBuf::from(OsStr::from_bytes(readlink(&name, Vec::new())?.as_bytes()));
    if !may_change(plan, &place) {
        return Err(Denial::Refused);
    }
    // The keeper may have privileges, its command has none.
    if stat.st_uid != getuid().as_raw() {
        return Err(Errno::PERM.into());
    }
    match change {
        Change::Mode(mode) => {
            let mode = mode as u32 & 0o7777;
            if mode & PRIVILEGE_BITS != 0 {
                return Err(Denial::Refused);
            }
            chmod(&name, Mode::from_raw_mode(mode))?;
        }
        Change::Times(times) => utimensat(&file, c"", &times, AtFlags::EMPTY_PATH)?,
        // Without privileges, only what is already so.
        Change::Owner { user, group } => {
            let is_so = |wanted: u64, is: u32| matches!(wanted as u32, UNCHANGED) || wanted as u32 == is;
            if !is_so(user, stat.st_uid) || !is_so(group, stat.st_gid) {
                return Err(Errno::PERM.into());
            }
        }
    }
    Ok(())
}

/// True for a place that the command may write.
fn may_change(plan: &Plan, place: &Path) -> bool {
    let mut closed = plan.protected.iter().chain(&plan.hidden);
    plan.writable.iter().any(|writable| place.starts_with(writable)) && !closed.any(|path| place.starts_with(path))
}

/// The target and the change that a call asks for; refused if it asks for another kind of change.
fn read(call: &ToldCall) -> Result<(Target, Change), Denial> {
    let [first, second, third, fourth, fifth, _] = call.arguments;
    let at = |directory, address, flags| Target::Path { directory, address, flags };
    let here = |flags: i32| at(WORKING_DIRECTORY.into(), first, flags.cast_unsigned().into());
    let owner = |user, group| Change::Owner { user, group };
    let no_flags = 0;
    Ok(match call.number {
        libc::SYS_fchmod => (Target::Descriptor(first), Change::Mode(second)),
        libc::SYS_fchmodat => (at(first, second, no_flags), Change::Mode(third)),
        SYS_FCHMODAT2 => (at(first, second, fourth), Change::Mode(third)),
        libc::SYS_fchown => (Target::Descriptor(first), owner(second, third)),
        libc::SYS_fchownat => (at(first, second, fifth), owner(third, fourth)),
        libc::SYS_utimensat => {
            let target = if second == 0 { Target::Descriptor(first) } else { at(first, second, fourth) };
            (target, Change::Times(times(call.thread, third, 1)?))
        }
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chmod => (here(0), Change::Mode(second)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_chown => (here(0), owner(second, third)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_lchown => (here(libc::AT_SYMLINK_NOFOLLOW), owner(second, third)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utime => (here(0), Change::Times(whole_seconds(call.thread, second)?)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_utimes => (here(0), Change::Times(times(call.thread, second, NANOSECONDS_PER_MICROSECOND)?)),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_futimesat => {
            let target = if second == 0 { Target::Descriptor(first) } else { at(first, second, no_flags) };
            (target, Change::Times(times(call.thread, third, NANOSECONDS_PER_MICROSECOND)?))
        }
        _ => return Err(Denial::Refused),
    })
}

impl Target {
    /// Opens the file, without any access to its contents.
    fn open(&self, thread: u32) -> Result<OwnedFd, Errno> {
        let any = OFlags::PATH | OFlags::CLOEXEC;
        match self {
            Self::Descriptor(descriptor) => retry_on_intr(|| open(named(thread, *descriptor), any, Mode::empty())),
            Self::Path { directory, address, flags } => {
                let path = path(thread, *address)?;
                if path.as_os_str().is_empty() {
                    let is_allowed = flags & u64::from(libc::AT_EMPTY_PATH.cast_unsigned()) != 0;
                    return if is_allowed { Self::Descriptor(*directory).open(thread) } else { Err(Errno::NOENT) };
                }
                let follows = flags & u64::from(libc::AT_SYMLINK_NOFOLLOW.cast_unsigned()) == 0;
                let how = if follows { any } else { any | OFlags::NOFOLLOW };
                if path.is_absolute() {
                    return retry_on_intr(|| openat(CWD, its_own(thread, &path), how, Mode::empty()));
                }
                let base = named(thread, *directory);
                let base = retry_on_intr(|| open(&base, any | OFlags::DIRECTORY, Mode::empty()))?;
                retry_on_intr(|| openat(base.as_fd(), &path, how, Mode::empty()))
            }
        }
    }
}

/// Two times at an address: seconds, and a fraction in so many nanoseconds. Both are now if there is no address.
fn times(thread: u32, address: u64, unit: i64) -> Result<Timestamps, Errno> {
    let Some([access_seconds, access, change_seconds, change]) = numbers(thread, address)? else { return Ok(now()) };
    let time = |seconds, fraction: i64| Timespec { tv_sec: seconds, tv_nsec: fraction.wrapping_mul(unit) };
    Ok(Timestamps { last_access: time(access_seconds, access), last_modification: time(change_seconds, change) })
}

#[cfg(target_arch = "x86_64")]
fn whole_seconds(thread: u32, address: u64) -> Result<Timestamps, Errno> {
    let Some([access, change]) = numbers(thread, address)? else { return Ok(now()) };
    let time = |seconds| Timespec { tv_sec: seconds, tv_nsec: 0 };
    Ok(Timestamps { last_access: time(access), last_modification: time(change) })
}

fn now() -> Timestamps {
    let now = Timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW };
    Timestamps { last_access: now, last_modification: now }
}
