//! Trials of the program: guards taken out (`mutants`), kills at any instant (`crash`), an hour of random load
//! (`soak`), and arbitrary bytes (`fuzz`). Also MCP programs by other people (`mcp`), the hosts that people use
//! (`hosts`), and a real model (`practice`).
//!
//! `cargo xtask` starts it. The program is run as a user runs it, and none of its crates is linked here.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is for the person who runs it")]

mod crash;
mod fuzz;
mod hosts;
mod mcp;
mod mutants;
mod npm;
mod practice;
mod soak;

use std::process::ExitCode;

use anyhow::Result;
use sortie_workshop::Verdict;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    Verdict::exit_code(dispatch(&words), "`cargo xtask help` lists the trials and their options\n")
}

fn dispatch(words: &[String]) -> Result<Verdict> {
    let Some((name, flags)) = words.split_first() else { return Ok(Verdict::WrongUsage) };
    match name.as_str() {
        "crash" => crash::run(flags),
        "fuzz" => fuzz::run(flags),
        "hosts" => hosts::run(flags),
        "mcp" => mcp::run(flags),
        "mutants" => mutants::run(flags),
        "practice" => practice::run(flags),
        "soak" => soak::run(flags),
        _ => Ok(Verdict::WrongUsage),
    }
}
