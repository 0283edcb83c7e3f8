//! Restricts a process with Landlock. In the namespace tier this is the second wall, in the Landlock tier the first.
//!
//! Landlock can only allow, and a directory includes everything in it. To leave something out, everything next to it
//! and above it must be allowed one by one.

use std::fs;
use std::io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::{Errno, retry_on_intr};

use crate::walls::plan::Plan;
use crate::walls::report::{During, KeeperFailure};
use crate::walls::{Network, Tier};

/// The newest version used, as far as the kernel supports it.
const NEWEST: ABI = ABI::V6;
/// The oldest version that can protect a file: before it, any file could be truncated.
const OLDEST: ABI = ABI::V3;

const DEVICES: [&str; 4] = ["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];
/// Shared memory for any process that may write it.
const ZERO: &str = "/dev/zero";

pub(super) fn restrict(plan: &Plan) -> Result<(), KeeperFailure> {
    let alone = plan.tier == Tier::Landlock;
    let ruleset = ruleset(plan, alone).map_err(failed)?;
    let ruleset = if alone { alone_rules(ruleset, plan)? } else { second_rules(ruleset, plan)? };
    let status = ruleset.restrict_self().map_err(failed)?;
    if alone && status.ruleset == RulesetStatus::NotEnforced {
        return Err(KeeperFailure {
            step: "requesting Landlock, which this kernel lacks".to_owned(),
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

/// Rules for a private view, which already hides and protects.
fn second_rules(ruleset: RulesetCreated, plan: &Plan) -> Result<RulesetCreated, KeeperFailure> {
    let mut ruleset = allow(ruleset, Path::new("/"), reading())?;
    for path in plan.writable.iter().map(PathBuf::as_path).chain([Path::new("/tmp"), Path::new("/dev/shm")]) {
        ruleset = allow(ruleset, path, writing())?;
    }
    devices(ruleset)
}

/// Rules where Landlock is the only wall.
fn alone_rules(mut ruleset: RulesetCreated, plan: &Plan) -> Result<RulesetCreated, KeeperFailure> {
    ruleset = allow(ruleset, Path::new("/"), AccessFs::ReadDir.into())?;
    // Terminals and disks are also files, and belong to root or the user.
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
    allow(ruleset, Path::new(ZERO), AccessFs::ReadFile.into())
}

fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

/// Everything but talking to devices and creating them.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(NEWEST) & !(AccessFs::IoctlDev | AccessFs::MakeChar | AccessFs::MakeBlock)
}

fn allow(ruleset: RulesetCreated, path: &Path, access: BitFlags<AccessFs>) -> Result<RulesetCreated, KeeperFailure> {
    let Some((place, is_directory)) = open(path)? else { return Ok(ruleset) };
    let access = if is_directory { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(place, access)).map_err(failed)
}

/// Opens a path and tells whether it is a directory. `None` if it is gone, and for a link at its end or on the way,
/// since allowing one would allow its target.
fn open(path: &Path) -> Result<Option<(OwnedFd, bool)>, KeeperFailure> {
    let opening = || format!("opening {}", path.display());
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = match retry_on_intr(|| openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(None),
        other => other.during(opening)?,
    };
    let kind = FileType::from_raw_mode(fstat(&place).during(opening)?.st_mode);
    Ok((kind != FileType::Symlink).then_some((place, kind == FileType::Directory)))
}

/// Everything in `directory` except the paths in `except`; the directory itself if it contains none of them.
fn beside(directory: &Path, except: &[PathBuf]) -> Result<Vec<PathBuf>, KeeperFailure> {
    if except.iter().any(|path| directory.starts_with(path)) {
        return Ok(Vec::new());
    }
    let below: Vec<PathBuf> = except.iter().filter(|path| path.starts_with(directory)).cloned().collect();
    if below.is_empty() {
        return Ok(vec![directory.to_owned()]);
    }
    if fs::symlink_metadata(directory).is_ok_and(|metadata| metadata.is_symlink()) {
        // Its target lies elsewhere, and is judged there.
        return Ok(Vec::new());
    }
    let listing = || format!("listing {}", directory.display());
    let entries = match fs::read_dir(directory) {
        // Directories that cannot be listed, or no longer, are left out: less is allowed, not more.
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
