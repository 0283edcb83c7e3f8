//! Calls that isolate a process: namespaces, mounts, the loopback interface of a new network, and the version of
//! Landlock.

#![expect(unsafe_code, reason = "the kernel's calls for namespaces and mounts have no safe interface elsewhere")]

use std::ffi::{CStr, c_long};
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::thread::UnshareFlags;

use crate::system::process::check;

/// Leaves namespaces, not descriptors: those would be refused.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    if flags.contains(UnshareFlags::FILES) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    // SAFETY: descriptors are not unshared.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}

/// Changes to a mount.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MountAttributes {
    pub(crate) read_only: bool,
    pub(crate) no_devices: bool,
}

/// Makes a mount tree private to this namespace, ignores set-user-id bits in it, and applies `attributes`.
pub(crate) fn restrict_mounts(tree: BorrowedFd<'_>, path: &CStr, attributes: MountAttributes) -> io::Result<()> {
    let mut attributes_set = libc::MOUNT_ATTR_NOSUID;
    if attributes.read_only {
        attributes_set |= libc::MOUNT_ATTR_RDONLY;
    }
    if attributes.no_devices {
        attributes_set |= libc::MOUNT_ATTR_NODEV;
    }
    let attributes =
        libc::mount_attr { attr_set: attributes_set, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    let flags = libc::AT_RECURSIVE | libc::AT_EMPTY_PATH;
    // SAFETY: the path ends in NUL, and the structure outlives the call and has the size passed.
    check(unsafe {
        let size = mem::size_of_val(&attributes);
        libc::syscall(libc::SYS_mount_setattr, tree.as_raw_fd(), path.as_ptr(), flags, &raw const attributes, size)
    })
}

/// Brings up the loopback interface of this network namespace.
pub(crate) fn raise_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: all-zero is a valid value of this plain structure; it outlives the call, which reads its name and flags.
    check(unsafe {
        let mut request: libc::ifreq = mem::zeroed();
        request.ifr_name[0] = b'l'.cast_signed();
        request.ifr_name[1] = b'o'.cast_signed();
        request.ifr_ifru.ifru_flags = libc::IFF_UP as i16;
        c_long::from(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request))
    })
}

/// The kernel's version of Landlock; 0 for none.
pub(crate) fn landlock_version() -> u32 {
    const CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with this flag the kernel takes no structure, and only returns a number.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, CREATE_RULESET_VERSION)
    };
    u32::try_from(version).unwrap_or(0)
}
