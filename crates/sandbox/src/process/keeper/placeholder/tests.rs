//! Placeholders without a command around them: who holds one, and who takes it away.

use std::fs;

use tempfile::TempDir;

use super::*;
use crate::process::filter::Program;
use crate::process::{Network, ProcessLimits, Tier};

/// A workspace in which one path is protected.
fn workspace(protected: &str) -> (TempDir, Plan) {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    let plan = Plan {
        tier: Tier::Namespaces,
        writable: vec![root.clone()],
        protected: vec![root.join(protected)],
        hidden: Vec::new(),
        network: Network::None,
        limits: ProcessLimits::default(),
        directory: root.clone(),
        bash: "/bin/bash".into(),
        command: "true".into(),
        environment: Vec::new(),
        filter: Program::new(),
        root,
    };
    (directory, plan)
}

#[test]
fn what_another_process_held_is_taken_away_when_nobody_holds_it_any_more() {
    let (directory, plan) = workspace("gone/hooks");
    let held = hold(&plan.root, Path::new("gone/hooks")).unwrap().unwrap();
    take_away_all(&plan);
    assert!(directory.path().join("gone").exists(), "it is in use");
    drop(held);
    assert!(directory.path().join("gone").exists(), "who cannot take it away leaves it");
    take_away_all(&plan);
    assert!(!directory.path().join("gone").exists());
}

#[test]
fn nothing_is_made_only_to_be_taken_away() {
    let (directory, plan) = workspace("gone/hooks");
    take_away_all(&plan);
    fs::create_dir(directory.path().join("gone")).unwrap();
    take_away_all(&plan);
    assert_eq!(fs::read_dir(directory.path().join("gone")).unwrap().count(), 0);
}

#[test]
fn the_last_of_several_takes_it_away() {
    let (directory, plan) = workspace("gone");
    let (first, second) = (hold_all(&plan).unwrap(), hold_all(&plan).unwrap());
    drop(first);
    assert!(directory.path().join("gone").exists());
    drop(second);
    assert!(!directory.path().join("gone").exists());
}
