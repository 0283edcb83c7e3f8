//! Restricts a process by Landlock. In the tier of namespaces this is the second wall, in its own the first.
//!
//! Landlock knows only what is allowed, and with a directory everything in it. To leave something out, all that lies
//! beside it and above it has to be allowed one by one.

use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;

use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};
use crate::walls::{Network, Tier};

/// The newest that is used, as far as the kernel has it.
const NEWEST: ABI = ABI::V6;
/// The oldest with which a file can be protected: before it, any file could be emptied.
const OLDEST: ABI = ABI::V3;

const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

pub(super) fn restrict(plan: &Plan) -> Result<(), KeeperFailure> {
    let alone = plan.tier == Tier::Landlock;
    let ruleset = ruleset(plan, alone).map_err(failed)?;
    let ruleset = if alone { alone_rules(ruleset, plan)? } else { second_rules(ruleset, plan)? };
    let status = ruleset.restrict_self().map_err(failed)?;
    if alone && status.ruleset == RulesetStatus::NotEnforced {
        return Err(KeeperFailure {
            step: "asking for Landlock, which this kernel does not have".to_owned(),
            errno: Errno::NOSYS,
        });
    }
    Ok(())
}

fn ruleset(plan: &Plan, alone: bool) -> Result<RulesetCreated, landlock::RulesetError> {
    let required = if alone { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let mut ruleset = Ruleset::default()
        .set_compatibility(required)
        .handle_access(AccessFs::from_all(OLDEST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?;
    if plan.network == Network::None {
        ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
    }
    Ok(ruleset.create()?.set_compatibility(CompatLevel::BestEffort))
}

/// Where a view of its own shows only what may be seen, and hides and protects what has to be.
fn second_rules(ruleset: RulesetCreated, plan: &Plan) -> Result<RulesetCreated, KeeperFailure> {
    let mut ruleset = allow(ruleset, Path::new("/"), reading())?;
    for path in plan.writable.iter().map(PathBuf::as_path).chain([Path::new("/tmp"), Path::new("/dev/shm")]) {
        ruleset = allow(ruleset, path, writing())?;
    }
    devices(ruleset)
}

/// Where Landlock is all there is.
fn alone_rules(mut ruleset: RulesetCreated, plan: &Plan) -> Result<RulesetCreated, KeeperFailure> {
    ruleset = allow(ruleset, Path::new("/"), AccessFs::ReadDir.into())?;
    // Terminals and disks are files too, and root's, or the user's.
    let unread: Vec<PathBuf> = plan.hidden.iter().cloned().chain([PathBuf::from("/dev")]).collect();
    for path in beside(Path::new("/"), &unread)? {
        ruleset = allow(ruleset, &path, reading())?;
    }
    let closed: Vec<PathBuf> = plan.protected.iter().chain(&plan.hidden).cloned().collect();
    for root in &plan.writable {
        if open(root)?.is_none() {
            return Err(KeeperFailure { step: format!("opening {}", root.display()), errno: Errno::NOENT });
        }
        for path in beside(root, &closed)? {
            ruleset = allow(ruleset, &path, writing())?;
        }
    }
    devices(ruleset)
}

fn devices(mut ruleset: RulesetCreated) -> Result<RulesetCreated, KeeperFailure> {
    for device in DEVICES {
        ruleset = allow(ruleset, Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    Ok(ruleset)
}

fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

/// All but talking to devices, of which there is none to be made.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !(AccessFs::IoctlDev | AccessFs::MakeChar | AccessFs::MakeBlock)
}

fn allow(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, KeeperFailure> {
    let Some((place, is_directory)) = open(path)? else { return Ok(ruleset) };
    let access = if is_directory { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(place, access)).map_err(failed)
}

/// The thing itself and whether it is a directory; `None` for a link, at its end or on the way, which would allow what
/// it leads to, and for what is gone.
fn open(path: &Path) -> Result<Option<(OwnedFd, bool)>, KeeperFailure> {
    let opening = || format!("opening {}", path.display());
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(None),
        other => other.during(opening)?,
    };
    let kind = FileType::from_raw_mode(fstat(&place).during(opening)?.st_mode);
    Ok((kind != FileType::Symlink).then_some((place, kind == FileType::Directory)))
}

/// What lies in `directory` without leading to one of `except`: itself if it can be taken whole.
fn beside(directory: &Path, except: &[PathBuf]) -> Result<Vec<PathBuf>, KeeperFailure> {
    if except.iter().any(|path| directory.starts_with(path)) {
        return Ok(Vec::new());
    }
    let below: Vec<PathBuf> = except.iter().filter(|path| path.starts_with(directory)).cloned().collect();
    if below.is_empty() {
        return Ok(vec![directory.to_owned()]);
    }
    if fs::symlink_metadata(directory).is_ok_and(|metadata| metadata.is_symlink()) {
        // What it holds lies elsewhere, and is judged there.
        return Ok(Vec::new());
    }
    let listing = || format!("listing {}", directory.display());
    let entries = match fs::read_dir(directory) {
        // What cannot be listed by this user, or not any more, is left out: less is allowed, not more.
        Err(error) if matches!(error.kind(), PermissionDenied | NotADirectory | NotFound) => return Ok(Vec::new()),
        other => other.during(listing)?,
    };
    let mut places = Vec::new();
    for entry in entries {
        places.extend(beside(&entry.during(listing)?.path(), &below)?);
    }
    Ok(places)
}

fn failed(error: impl std::fmt::Display) -> KeeperFailure {
    KeeperFailure { step: format!("restricting by Landlock ({error})"), errno: Errno::INVAL }
}
