//! `sortie`, the command line. Arguments, files and environment become settings; settings become an engine; the
//! engine's results become text and an exit code. It holds no logic of its own, and is the only reader of the
//! environment.

mod command;
mod environment;
mod error;
mod render;
mod session;
mod settings;
mod text;
mod trust;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    // The keeper of a command is this same program.
    sortie_sandbox::process::enter();
    sortie_sandbox::share_memory();
    command::execute(command::Cli::read()).unwrap_or_else(|error| {
        error.report();
        error::exit_code::of_error(error.kind)
    })
}
