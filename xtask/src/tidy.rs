//! The rules of this codebase that no compiler checks, as small functions over a path and its text.
//!
//! Each rule lives in its own file with samples that break it. Here they are listed, run and reported.

mod blank;
mod declared;
mod dependencies;
mod door;
mod file;
mod finding;
mod golden;
mod habit;
mod item;
mod manifest;
mod map;
mod name;
mod ratchet;
mod reserved;
mod rooms;
mod size;
mod text;
mod token;
mod unfinished;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use sortie_workshop::{Verdict, Workspace, process};

use self::file::File;
use self::finding::{Finding, Weight};

/// Rules that look at one file at a time.
type FileRule = fn(&File) -> Vec<Finding>;
const FILE_RULES: &[FileRule] = &[
    door::closed,
    manifest::inherits,
    manifest::leaves_versions_to_the_root,
    manifest::hides_no_tests,
    map::lib_is_a_map,
    name::types,
    name::files,
    reserved::acts,
    size::fits,
    text::no_machine_paths,
    text::no_document_numbers,
    text::no_registry_hosts,
    text::lock_names_one_registry,
    unfinished::nothing_left_open,
    unfinished::no_silenced_lints,
    unfinished::no_sleeping_tests,
];

/// Rules that need to see all files at once.
type TreeRule = fn(&[File]) -> Vec<Finding>;
const TREE_RULES: &[TreeRule] = &[
    declared::modules,
    declared::one_test_binary,
    door::lead_somewhere,
    manifest::default_members,
    ratchet::check,
    rooms::check,
    text::changelog,
    golden::not_blank,
    size::xtask_stays_small,
];

/// Checks everything and prints what is wrong. Warnings alone do not fail.
///
/// With `--write` it first updates everything that is made from the sources.
pub(crate) fn run(flags: &[String]) -> Result<Verdict> {
    let workspace = Workspace::load()?;
    let mut files = read_files(&workspace.root)?;
    match flags {
        [] => {}
        [flag] if flag == "--write" => {
            write(&workspace.root, &files)?;
            files = read_files(&workspace.root)?;
        }
        _ => return Ok(Verdict::WrongUsage),
    }

    let mut findings: Vec<Finding> = Vec::new();
    findings.extend(files.iter().flat_map(|file| FILE_RULES.iter().flat_map(move |rule| rule(file))));
    findings.extend(TREE_RULES.iter().flat_map(|rule| rule(&files)));
    findings.extend(dependencies::check(&workspace.packages));
    findings.extend(dependencies::stale_layers(&workspace.packages));
    findings.sort();

    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|finding| finding.weight == Weight::Error).count();
    println!("tidy: {errors} errors, {} warnings in {} files", findings.len() - errors, files.len());
    Ok(Verdict::good_if(errors == 0))
}

/// Updates the tables of rooms, and the counts that have fallen.
fn write(root: &Path, files: &[File]) -> Result<()> {
    for (path, text) in [(rooms::MAP, rooms::map_from_sources(files)), (ratchet::PAGE, ratchet::lowered(files))] {
        if let Some(text) = text {
            std::fs::write(root.join(path), text).with_context(|| format!("cannot write {path}"))?;
        }
    }
    Ok(())
}

/// Every text file that git tracks or would track.
fn read_files(root: &Path) -> Result<Vec<File>> {
    let listing = process::stdout_of(Command::new("git").current_dir(root).args([
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
    ]))
    .context("tidy looks at what git tracks, so it needs git and a clone")?;

    let mut files = Vec::new();
    for path in listing.split_terminator('\0') {
        let bytes = match std::fs::read(root.join(path)) {
            Ok(bytes) => bytes,
            // Deleted, and not yet committed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).with_context(|| format!("cannot read {path}")),
        };
        // Files that are not UTF-8 are pictures or the like, and hold nothing for a rule to judge.
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(File::new(path, text));
        }
    }
    Ok(files)
}
