//! Time of a bare decision: `decision_rate [RULES]`.
//!
//! A judge with this many rules (default 1,000) decides calls that no rule covers, so that it checks them all. Prints
//! one line of JSON: the microseconds of the slowest kind of call, and the milliseconds to search a megabyte of source
//! code for secrets. `cargo xtask bench` reads it.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use serde_json::json;
use sortie_policy::{Judge, Places, Redactor};
use sortie_protocol::{Grant, GrantLayer, Mode, Resource};

/// Number of batches to time. The fastest counts: the others also measure what else the machine does.
const BATCHES: u32 = 40;
const BATCH: u32 = 500;

fn main() -> Result<(), Box<dyn Error>> {
    let rules: usize = std::env::args().nth(1).map_or(Ok(1000), |rules| rules.parse())?;
    let places = Places { root: Some(PathBuf::from("/people/me/project")), ..Places::default() };
    let judge = Judge::new(&grant(rules), places)?;
    let path = |path: &str| Resource::Path(PathBuf::from(path));
    let command = |line: &str| Resource::Command { line: line.to_owned(), directory: PathBuf::new() };
    let calls = [
        ("Read", path("crates/policy/src/judge/matcher.rs")),
        ("Edit", path("documentation/architecture/decisions/0042-subjects.md")),
        ("Grep", path("module_17/component_93/generated/fixtures/snapshots/a.json")),
        ("Write", path(&format!("module_{}/anything.rs", rules / 5))),
        ("Bash", command("cargo test --workspace --all-features")),
        ("Bash", command("cd sub && git diff --stat 'a b' 2>&1 | tail -n 20 > out.txt")),
        ("WebFetch", Resource::Host("docs.example.org".to_owned())),
        ("Task", Resource::Agent { name: "explore".to_owned(), aliases: Vec::new() }),
    ];
    let slowest = calls.iter().map(|(tool, resource)| decision(&judge, tool, resource)).fold(0.0, f64::max);
    println!("{}", json!({ "rules": rules, "microseconds": slowest, "redaction_ms_per_mb": redaction() }));
    Ok(())
}

/// Microseconds per decision.
fn decision(judge: &Judge, tool: &str, resource: &Resource) -> f64 {
    let batch = || {
        let began = Instant::now();
        for _ in 0..BATCH {
            black_box(judge.decide(black_box(tool), black_box(resource)));
        }
        began.elapsed().as_secs_f64() * 1e6 / f64::from(BATCH)
    };
    (0..BATCHES).map(|_| batch()).fold(f64::INFINITY, f64::min)
}

/// Deny, ask and allow rules of all kinds, most of them about paths.
fn grant(rules: usize) -> Grant {
    let mut layer = GrantLayer { mode: Some(Mode::Default), ..GrantLayer::new("user settings") };
    for index in 0..rules {
        let number = index / 5;
        let rule = match index % 5 {
            0 => format!("Read(module_{number}/**)"),
            1 => format!("Edit(**/component_{number}/*.rs)"),
            2 => format!("Read(*.secret{number})"),
            3 => format!("Bash(tool{number} run:*)"),
            _ => format!("WebFetch(domain:host{number}.example.org)"),
        };
        [&mut layer.deny, &mut layer.ask, &mut layer.allow][index % 3].push(rule);
    }
    Grant { layers: vec![layer, GrantLayer::new("agent main")] }
}

/// Milliseconds to search a megabyte of source code.
fn redaction() -> f64 {
    let text =
        concat!(include_str!("../src/matching/target.rs"), include_str!("../src/rule/path_pattern.rs")).repeat(100);
    let redactor = Redactor::new(vec!["a-key-that-is-known-0123456789".to_owned()]);
    let pass = || {
        let began = Instant::now();
        black_box(redactor.redact(black_box(&text)));
        began.elapsed().as_secs_f64() * 1000.0
    };
    (0..BATCHES).map(|_| pass()).fold(f64::INFINITY, f64::min) / (text.len() as f64 / 1e6)
}
