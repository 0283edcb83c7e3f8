//! Benchmark of finding the agent for a text among a thousand, and for a very long text among five thousand. Prints one
//! line of JSON.
//!
//! `cargo run --release --package sortie-agents --example match_rate`

#![expect(clippy::print_stdout, reason = "its output is for the one who runs it")]

use std::time::{Duration, Instant};

use sortie_agents::{AgentFile, Dialect, Registry, Scope, rank};

const DEFINITIONS: usize = 1_000;
const RUNS: usize = 51;

/// The most definitions that are ever read, and a text that no one would type.
const MANY_DEFINITIONS: usize = 5_000;
const LONG_TEXT_BYTES: usize = 100_000;

fn main() {
    let tools = ["Read", "LS", "Glob", "Grep"].map(str::to_owned);
    let files: Vec<AgentFile> = (0..DEFINITIONS).map(file).collect();
    let assembled = median(|| drop(Registry::assemble(files.clone(), Vec::new(), &tools)));
    let registry = Registry::assemble(files, Vec::new(), &tools);
    let text = "Review the error handling of the TypeScript billing service and find missing tests";
    let ranked = median(|| drop(rank(&registry, text)));
    let ranking = rank(&registry, text);
    let many = Registry::assemble((0..MANY_DEFINITIONS).map(file).collect(), Vec::new(), &tools);
    let long = long_text();
    let long_ranked = median(|| drop(rank(&many, &long)));
    println!(
        r#"{{"definitions":{},"assemble_ms":{:.3},"match_ms":{:.3},"long_match_ms":{:.3},"matches":{},"best":"{}"}}"#,
        registry.delegable().count(),
        assembled.as_secs_f64() * 1e3,
        ranked.as_secs_f64() * 1e3,
        long_ranked.as_secs_f64() * 1e3,
        ranking.matches.len(),
        ranking.best().map_or("none", |best| best.agent.name.as_str()),
    );
}

/// Different words, as far as possible, and some that every agent has.
fn long_text() -> String {
    let mut text = String::from("Review the error handling of the billing service and its missing tests: ");
    let mut number = 0;
    while text.len() < LONG_TEXT_BYTES {
        text += &format!("part {number} word{number} ");
        number += 1;
    }
    text
}

fn file(number: usize) -> AgentFile {
    const ROLES: [&str; 8] =
        ["reviewer", "tester", "planner", "writer", "debugger", "analyst", "migrator", "architect"];
    const SUBJECTS: [&str; 10] = [
        "billing",
        "search",
        "login",
        "storage",
        "network",
        "TypeScript",
        "Python",
        "database",
        "deployment",
        "report",
    ];
    let (role, subject) = (ROLES[number % ROLES.len()], SUBJECTS[number / ROLES.len() % SUBJECTS.len()]);
    let text = format!(
        "---\nname: {role}-{number}\ndescription: Use this agent as the {role} of the {subject} service, after every \
         change that touches its error handling, its tests or its public interface. It reads the code, finds what is \
         missing, names files with their lines and reports in a few sentences. Do not use it for anything else, in \
         particular not for part {number}.\ntools: Read, Grep, Glob\nmodel: inherit\nmaxTurns: 12\ncolor: blue\n---\n\
         You are the {role} of the {subject} service. Read before you judge.\n"
    );
    AgentFile {
        path: format!(".sortie/agents/{role}-{number}.md"),
        scope: Scope::Project,
        dialect: Dialect::Ours,
        trusted: false,
        bytes: text.into_bytes(),
    }
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        })
        .collect();
    times.sort();
    times[RUNS / 2]
}
