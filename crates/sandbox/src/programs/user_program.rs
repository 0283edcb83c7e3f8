//! A program of the user's own, run as the user would run it: with all of the user's rights and without walls.
//!
//! Nothing that an agent or an untrusted project can influence may be started here; the caller is responsible for that.
//! Its time and the amount of kept output are limited all the same.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::process::{How, Stopper};
use crate::programs::child_process::{self, ChildFailure, ChildTerms};
use crate::system::{Lifeline, end_group_with};
use crate::walls::Environment;

/// A program, and how to run it.
#[derive(Debug, Clone)]
pub struct OwnProgram {
    /// Absolute; nothing is searched for.
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: Environment,
    /// Its standard input.
    pub input: Vec<u8>,
    /// Its time limit.
    pub time: Duration,
}

/// The end of the program, of whatever kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProgramEnded {
    pub how: How,
    /// The first 16 KiB of its standard error; its standard output is not kept.
    pub errors: Vec<u8>,
}

/// Reason why it did not run.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be run: {source}", program.display())]
pub struct OwnProgramError {
    pub program: PathBuf,
    pub source: io::Error,
}

impl OwnProgram {
    /// Runs it to its end, or until `stopper` stops it. The rest of its process group is then killed, and also if this
    /// process goes away for whatever reason. Blocks.
    pub fn run(&self, stopper: &Stopper) -> Result<OwnProgramEnded, OwnProgramError> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.directory).env_clear().envs(self.environment.variables());
        let failed = |source| OwnProgramError { program: self.program.clone(), source };
        let Lifeline { watched, held: _held_to_its_end } = Lifeline::new().map_err(failed)?;
        end_group_with(&mut command, watched);
        let terms = ChildTerms { input: &self.input, time: self.time, max_output: None, stop: Some(stopper.as_fd()) };
        let without_words = |how| OwnProgramEnded { how, errors: Vec::new() };
        match child_process::run(command, terms) {
            Ok(ended) => {
                let how = match (ended.status.code(), ended.status.signal()) {
                    (Some(code), _) => How::Exited { code },
                    (None, Some(signal)) => How::Signalled { signal },
                    (None, None) => How::Lost,
                };
                Ok(OwnProgramEnded { how, errors: ended.errors })
            }
            Err(ChildFailure::TooLate) => Ok(without_words(How::TimedOut)),
            Err(ChildFailure::Stopped) => Ok(without_words(How::Cancelled)),
            // Its output is not read, so it cannot be too long.
            Err(ChildFailure::TooLong) => Ok(without_words(How::Lost)),
            Err(ChildFailure::Io(source)) => Err(failed(source)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(text: &str) -> OwnProgram {
        let mut environment = Environment::default();
        environment.set("WHO", "me");
        OwnProgram {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), text.to_owned()],
            directory: "/".into(),
            environment,
            input: b"told".to_vec(),
            time: Duration::from_mins(1),
        }
    }

    #[test]
    fn a_program_gets_only_its_given_input_and_environment() {
        let ended = script("echo nobody listens; { cat; echo; pwd; echo $WHO $HOME; } >&2; exit 2");
        let ended = ended.run(&Stopper::new().unwrap()).unwrap();
        assert_eq!(ended.how, How::Exited { code: 2 });
        assert_eq!(String::from_utf8_lossy(&ended.errors), "told\n/\nme\n");
    }

    #[test]
    fn each_way_to_end_is_distinguished() {
        let stopper = Stopper::new().unwrap();
        assert_eq!(script("kill -9 $$").run(&stopper).unwrap().how, How::Signalled { signal: 9 });
        let late = OwnProgram { time: Duration::from_millis(50), ..script("sleep 1000") };
        assert_eq!(late.run(&stopper).unwrap().how, How::TimedOut);
        stopper.stop();
        assert_eq!(script("sleep 1000").run(&stopper).unwrap().how, How::Cancelled);
        let missing = OwnProgram { program: "/nowhere/at/all".into(), ..script("") };
        let error = missing.run(&stopper).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/at/all cannot be run: "), "{error}");
    }
}
