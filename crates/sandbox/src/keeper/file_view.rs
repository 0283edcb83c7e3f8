//! The file system as a command sees it: read-only, except where it may write; its own `/tmp`, `/dev` and `/proc`; and
//! nothing hidden.
//!
//! The view is the machine's own with mounts on top. Writable directories are first copied as detached mount trees.
//! Then everything becomes read-only at once, and the copies are mounted over their places. So no mount flag set by the
//! machine is ever dropped.

mod hide;
mod pins;
mod protect;

use std::ffi::CString;
use std::fs::{self, DirBuilder, File, Permissions};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::mount::{MountFlags, MoveMountFlags, mount, move_mount};
use rustix::process::getuid;
use rustix::system::uname;
use rustix::thread::{CapabilitySet, UnshareFlags, capabilities};
use sortie_mutant::is_out;

use self::pins::Pins;
use crate::keeper::mount::{BLANK, MountMode, copy_of, cover, place};
use crate::keeper::placeholder::Hold;
use crate::keeper::wall_watch::Lost;
use crate::system::{self, MountAttributes};
use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};

/// Everything in `/dev`, besides links.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

const LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];

/// Directories that are replaced as a whole.
const REPLACED: [&str; 3] = ["/tmp", "/dev", "/proc"];

/// Moves this process into a mount namespace of its own and builds the view in it. `held` gets the placeholders created
/// for it, besides the keeper's; they stay as long as they are kept.
pub(super) fn build(plan: &Plan, held: &mut Vec<Hold>) -> Result<(), KeeperFailure> {
    system::unshare(UnshareFlags::NEWNS).during(|| "making a mount namespace".to_owned())?;
    let mut shown = Vec::new();
    // A workspace inside a replaced directory is put back, before its contents.
    if plan.exposed(&plan.root).is_none() && REPLACED.iter().any(|place| plan.root.starts_with(place)) {
        shown.push((plan.root.as_path(), copy(&plan.root)?));
    }
    for path in &plan.writable {
        shown.push((path.as_path(), copy(path)?));
    }
    let devices = DEVICES.iter().map(|device| copy_device(Path::new(device))).collect::<Result<Vec<_>, _>>()?;
    system::restrict_mounts(CWD, c"/", MountAttributes { read_only: true, no_devices: true })
        .during(|| "making everything read-only".to_owned())?;
    replace_temporary(plan)?;
    replace_devices(plan, &devices)?;
    replace_processes(plan)?;
    for (path, tree) in shown {
        let read_only = plan.exposed(path).is_none();
        system::restrict_mounts(tree.as_fd(), c"", MountAttributes { read_only, no_devices: true })
            .and_then(|()| DirBuilder::new().recursive(true).mode(0o755).create(path))
            .during(|| format!("preparing {}", path.display()))?;
        cover(&tree, &place(path)?).during(|| format!("showing {}", path.display()))?;
    }
    let mut pins = Pins::default();
    hide::all(plan, &mut pins)?;
    protect::all(plan, &mut pins, held)
}

/// Covers the paths again whose mounts are gone, as far as they exist. Runs in the view, with the privileges to mount.
pub(super) fn cover_again(plan: &Plan, lost: &Lost<'_>) -> Result<(), KeeperFailure> {
    let mut pins = Pins::standing(lost.standing);
    let is_lost = |path: &&PathBuf| lost.paths.iter().any(|gone| path.starts_with(gone));
    plan.hidden.iter().filter(is_lost).try_for_each(|path| hide::again(plan, path, &mut pins))?;
    plan.protected.iter().filter(is_lost).try_for_each(|path| protect::again(plan, path, &mut pins))
}

/// A detached copy of the mount tree at `path`.
fn copy(path: &Path) -> Result<OwnedFd, KeeperFailure> {
    copy_of(&place(path)?, MountMode::AsItIs).during(|| format!("copying the mounts of {}", path.display()))
}

/// A read-only copy of a device node. The node can still be opened for writing, which changes nothing on a disk, but
/// its mode, owner and times stay. It is the machine's own.
fn copy_device(device: &Path) -> Result<OwnedFd, KeeperFailure> {
    let tree = copy(device)?;
    let attributes = MountAttributes { read_only: !is_out("device-nodes"), no_devices: false };
    system::restrict_mounts(tree.as_fd(), c"", attributes).during(|| format!("protecting {}", device.display()))?;
    Ok(tree)
}

fn replace_temporary(plan: &Plan) -> Result<(), KeeperFailure> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmp", "/tmp", "tmpfs", flags, &*options("1777", plan)).during(|| "mounting a private /tmp".to_owned())
}

fn replace_devices(plan: &Plan, devices: &[OwnedFd]) -> Result<(), KeeperFailure> {
    let replacing = || "mounting a private /dev".to_owned();
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("dev", "/dev", "tmpfs", flags, &*options("755", plan)).during(replacing)?;
    for (device, tree) in DEVICES.iter().zip(devices) {
        mknodat(CWD, *device, FileType::RegularFile, Mode::empty(), 0).during(replacing)?;
        move_mount(tree, c"", CWD, *device, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).during(replacing)?;
    }
    for (target, link) in LINKS {
        symlink(target, link).during(replacing)?;
    }
    let blank = File::create(BLANK).during(replacing)?;
    blank.set_permissions(Permissions::from_mode(0o000)).during(replacing)?;
    fs::create_dir("/dev/shm").during(replacing)?;
    fs::set_permissions("/dev/shm", Permissions::from_mode(0o1777)).during(replacing)
}

/// Each file takes at least one page of memory, even an empty one.
fn options(mode: &str, plan: &Plan) -> CString {
    const PAGE: u64 = 4096;
    /// A harmless number, and `/dev` needs some itself.
    const FEW_FILES: u64 = 1024;
    let size = plan.limits.temporary;
    let files = (size / PAGE).max(FEW_FILES);
    CString::new(format!("mode={mode},size={size},nr_inodes={files}")).unwrap_or_default()
}

/// `/proc` with the processes of this namespace, all read-only: some kernel switches require nothing more than being
/// root.
fn replace_processes(plan: &Plan) -> Result<(), KeeperFailure> {
    let mounting = || "mounting /proc".to_owned();
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if !counts_processes_by_namespace()? {
        return mount("proc", "/proc", "proc", flags | MountFlags::RDONLY, None).during(mounting);
    }
    mount("proc", "/proc", "proc", flags, None).during(mounting)?;
    let most = plan.limits.processes.clamp(301, 1 << 22);
    fs::write("/proc/sys/kernel/pid_max", most.to_string()).during(|| "limiting processes".to_owned())?;
    system::restrict_mounts(CWD, c"/proc", MountAttributes { read_only: true, no_devices: true }).during(mounting)
}

/// True if the process limit applies per namespace, as root needs. User limits do not apply to root; from Linux 6.14
/// on, each namespace has its own highest pid. Before, it is the whole machine's.
fn counts_processes_by_namespace() -> Result<bool, KeeperFailure> {
    let capable = capabilities(None).during(|| "asking for privileges".to_owned())?;
    if !getuid().is_root() || !capable.effective.contains(CapabilitySet::SYS_ADMIN) {
        return Ok(false);
    }
    let release = uname();
    let mut numbers = release.release().to_str().unwrap_or_default().split(['.', '-']).map(str::parse::<u32>);
    let version = (numbers.next(), numbers.next());
    Ok(matches!(version, (Some(Ok(major)), Some(Ok(minor))) if (major, minor) >= (6, 14)))
}
