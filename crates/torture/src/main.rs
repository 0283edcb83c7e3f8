//! Trials that the program must survive: kills at any instant (`crash`), an hour of random load (`soak`), and MCP
//! programs by other people (`mcp`). `cargo xtask` starts it.
//!
//! The program is run as a user runs it, and none of its crates is linked here.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is for the person who runs it")]

mod crash;
mod mcp;
mod soak;

use std::process::ExitCode;

use anyhow::Result;
use sortie_workshop::Verdict;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    Verdict::exit_code(dispatch(&words), "`cargo xtask help` lists the options of `crash`, `soak` and `mcp`\n")
}

fn dispatch(words: &[String]) -> Result<Verdict> {
    match words.split_first() {
        Some((name, flags)) if name == "crash" => crash::run(flags),
        Some((name, flags)) if name == "soak" => soak::run(flags),
        Some((name, flags)) if name == "mcp" => mcp::run(flags),
        _ => Ok(Verdict::WrongUsage),
    }
}
