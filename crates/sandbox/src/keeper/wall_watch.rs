//! Watches the mounts that hide and protect paths while a command runs, and makes them anew where somebody else took
//! them down.
//!
//! A mount ends with the file or directory under it. Another process of the user may remove or move that, as `git
//! checkout` does, and put another one in its place. Whatever comes to stand there is covered again, a moment later.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, waitpid};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::keeper::file_view;
use crate::system;
use crate::walls::plan::Plan;

/// Rounds of covering while others keep changing the place.
const ROUNDS: usize = 5;

pub(super) struct WallWatch {
    /// The mounts that the command sees.
    mounts: PathBuf,
    /// This list, open: the kernel signals its changes.
    signal: File,
    /// Changes in the directories on the way to covered paths. Without them, a directory that is moved away with its
    /// cover is noticed late.
    changes: Option<OwnedFd>,
    /// The command's view of files.
    view: OwnedFd,
    /// By watch: the names in that directory that matter.
    names: HashMap<i32, BTreeSet<OsString>>,
    /// Mount points that covered something when the command began.
    covered: BTreeSet<PathBuf>,
    replaced: BTreeSet<PathBuf>,
}

impl WallWatch {
    /// Begins when the walls stand, in the `view` of the first process inside.
    pub(super) fn new(plan: &Plan, inside: Pid, view: OwnedFd) -> io::Result<Self> {
        let mounts = PathBuf::from(format!("/proc/{}/mountinfo", inside.as_raw_nonzero()));
        let mut watch = Self {
            signal: File::open(&mounts)?,
            // Each user has few of them.
            changes: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok(),
            view,
            names: HashMap::new(),
            covered: BTreeSet::new(),
            replaced: BTreeSet::new(),
            mounts,
        };
        let standing = watch.standing()?;
        let paths = plan.hidden.iter().chain(&plan.protected);
        watch.covered =
            standing.into_iter().filter(|mount| paths.clone().any(|path| path.starts_with(mount))).collect();
        watch.covered.retain(|mount| is_place(plan, mount));
        paths.for_each(|path| watch.look_at(plan, path));
        Ok(watch)
    }

    /// Ready when there may be something to mend.
    pub(super) fn poll_fds(&self) -> impl Iterator<Item = PollFd<'_>> {
        let changes = self.changes.as_ref().map(|changes| PollFd::new(changes, PollFlags::IN));
        [PollFd::new(&self.signal, PollFlags::PRI)].into_iter().chain(changes)
    }

    /// Paths that somebody else replaced, without those inside others.
    pub(super) fn replaced(&self) -> Vec<PathBuf> {
        let mut outermost: Vec<PathBuf> = Vec::new();
        for path in &self.replaced {
            if !outermost.last().is_some_and(|last| path.starts_with(last)) {
                outermost.push(path.clone());
            }
        }
        outermost
    }

    /// Covers again what has lost its cover, as far as it exists. An error means that something may stand open.
    /// `happened` is the outcome of polling.
    pub(super) fn mend(&mut self, plan: &Plan, happened: &[PollFlags]) -> io::Result<()> {
        let is_signalled = happened.first().is_some_and(|signal| !signal.is_empty());
        if !self.has_changed()? && !is_signalled {
            return Ok(());
        }
        for _ in 0..ROUNDS {
            let standing = self.standing()?;
            let lost: BTreeSet<PathBuf> = self.covered.difference(&standing).cloned().collect();
            let exists = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
            self.replaced.extend(lost.iter().cloned());
            if !lost.iter().any(exists) {
                break;
            }
            cover_again(plan, self.view.as_fd(), &Lost { paths: &lost, standing: &standing })?;
            // What is new has directories that nobody watches yet.
            for path in plan.hidden.iter().chain(&plan.protected) {
                self.look_at(plan, path);
            }
        }
        Ok(())
    }

    /// True if a change may be about a covered path. Forgets the changes.
    fn has_changed(&self) -> io::Result<bool> {
        let Some(changes) = &self.changes else { return Ok(false) };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut matters = false;
        let mut reader = inotify::Reader::new(changes, &mut buffer);
        loop {
            match reader.next() {
                Ok(event) => {
                    let names = self.names.get(&event.wd());
                    let name = event.file_name().map(|name| OsString::from_vec(name.to_bytes().to_vec()));
                    let is_known = name.is_some_and(|name| names.is_some_and(|names| names.contains(&name)));
                    matters |= is_known || event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(matters)
    }

    /// The mount points that the command sees now.
    fn standing(&self) -> io::Result<BTreeSet<PathBuf>> {
        let text = fs::read(&self.mounts)?;
        let fields = text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
        Ok(fields.map(|field| PathBuf::from(OsString::from_vec(unescaped(field)))).collect())
    }

    /// Watches the directories on the way to a path, from the writable directory that it lies in, or its own.
    fn look_at(&mut self, plan: &Plan, path: &Path) {
        let Some(changes) = &self.changes else { return };
        let top = plan.exposed(path).map_or_else(|| path.parent().unwrap_or(path), |(root, _)| root);
        let mut directory = top.to_owned();
        for name in path.strip_prefix(top).unwrap_or(Path::new("")) {
            let events = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVE | WatchFlags::ONLYDIR;
            // It may not exist, or this user cannot look into it, and neither can the command.
            let Ok(watch) = inotify::add_watch(changes, &directory, events | WatchFlags::DONT_FOLLOW) else { return };
            self.names.entry(watch).or_default().insert(name.to_owned());
            directory.push(name);
        }
    }
}

/// True for a mount point that lies in a writable directory or is hidden: others are the machine's own.
fn is_place(plan: &Plan, mount: &Path) -> bool {
    plan.exposed(mount).is_some_and(|(_, beneath)| !beneath.as_os_str().is_empty())
        || plan.hidden.iter().any(|path| path == mount)
}

/// Covers that are gone, and all mounts that stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lost<'a> {
    pub(super) paths: &'a BTreeSet<PathBuf>,
    pub(super) standing: &'a BTreeSet<PathBuf>,
}

/// Covers in the command's own view, in a process of its own: this one keeps its view.
fn cover_again(plan: &Plan, view: BorrowedFd<'_>, lost: &Lost<'_>) -> io::Result<()> {
    let Some(child) = system::fork()? else {
        let moved = move_into_link_name_space(view, Some(LinkNameSpaceType::Mount));
        let covered = moved.is_ok() && file_view::cover_again(plan, lost).is_ok();
        system::exit(i32::from(!covered));
    };
    loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Ok(Some((_, status))) if status.exit_status() == Some(0) => return Ok(()),
            Err(Errno::INTR) => {}
            _ => return Err(Errno::PERM.into()),
        }
    }
}

/// A path of the mount table, in which some bytes are octal numbers.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = field;
    while let [first, others @ ..] = rest {
        let octal = others.get(..3).filter(|_| *first == b'\\');
        let number = octal.and_then(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 8).ok());
        plain.push(number.unwrap_or(*first));
        rest = if number.is_some() { others.get(3..).unwrap_or_default() } else { others };
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks_and_backslashes_are_read_from_the_mount_table() {
        assert_eq!(unescaped(br"/a\040b\134c\x"), br"/a b\c\x");
    }
}
