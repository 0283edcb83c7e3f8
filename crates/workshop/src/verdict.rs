//! The verdict of a command, as its exit code.

use std::process::ExitCode;

use anyhow::Result;

/// The end of a command. The findings of a bad one are already on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Good,
    Bad,
    WrongUsage,
}

impl Verdict {
    /// The exit code of wrong usage.
    pub const WRONG_USAGE: u8 = 2;

    #[must_use]
    pub fn good_if(condition: bool) -> Self {
        if condition { Self::Good } else { Self::Bad }
    }

    /// The exit code of a command. Prints the error of a failed command, and `usage` for a wrong call.
    pub fn exit_code(result: Result<Self>, usage: &str) -> ExitCode {
        match result {
            Ok(Self::Good) => ExitCode::SUCCESS,
            Ok(Self::Bad) => ExitCode::FAILURE,
            Ok(Self::WrongUsage) => {
                eprint!("{usage}");
                ExitCode::from(Self::WRONG_USAGE)
            }
            Err(error) => {
                eprintln!("error: {error:#}");
                ExitCode::FAILURE
            }
        }
    }
}
