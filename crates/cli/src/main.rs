//! `sortie`, the command line: arguments, files and environment become settings, settings become an engine, and what
//! the engine did becomes text and an exit code. It holds no logic of its own, and is the only reader of the environment.

mod args;
mod ask;
mod command;
mod detach;
mod drive;
mod error;
mod exit;
mod hooks;
mod input;
mod local;
mod patience;
mod render;
mod retention;
mod settings;
mod signal;
mod trust;
mod wiring;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    // Commands are kept by this same program.
    sortie_sandbox::process::enter();
    sortie_sandbox::share_memory();
    command::execute(args::Cli::parse()).unwrap_or_else(|error| {
        error.report();
        exit::of_error(error.kind)
    })
}
