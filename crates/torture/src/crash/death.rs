//! Ways in which a process of a round ends early: killed, or told to stop by a signal, to which it must answer.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::{Result, bail};
use rustix::process::Signal;
use serde_json::Value;

use super::live::{Ended, PATIENCE};
use super::random::Random;

/// One in so many processes gets a signal first.
const SIGNALLED_ONE_IN: u64 = 3;
/// One in so many of those is killed all the same, within this time.
const IMPATIENT_ONE_IN: u64 = 4;
const IMPATIENT_MS: u64 = 60;

/// Fate of a process whose time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Death {
    /// `kill -9`.
    Kill,
    /// A signal that interrupts the run, and `kill -9` if it has not ended after this time.
    Signal { signal: Signal, patience: Duration },
}

impl Death {
    pub(super) fn draw(random: &mut Random) -> Self {
        if !random.one_in(SIGNALLED_ONE_IN) {
            return Self::Kill;
        }
        let signal = *random.pick(&[Signal::INT, Signal::TERM]);
        let is_impatient = random.one_in(IMPATIENT_ONE_IN);
        let impatience = Duration::from_millis(random.below(IMPATIENT_MS));
        Self::Signal { signal, patience: if is_impatient { impatience } else { PATIENCE } }
    }

    /// Checks the last words of a stopped process. An interrupted run has an outcome that says so, and the exit code of
    /// its signal.
    pub(super) fn check(self, ended: &Ended) -> Result<()> {
        let Self::Signal { signal, .. } = self else { return Ok(()) };
        let status = ended.status;
        // It may have been killed meanwhile, or before it could know of the signal.
        if status.signal().is_some() {
            return Ok(());
        }
        let outcome = ended.stdout.lines().last().and_then(|line| serde_json::from_str::<Value>(line).ok());
        let outcome = outcome.filter(|outcome| outcome["type"] == "outcome").unwrap_or_default();
        let is_interrupted = outcome["status"] == "interrupted" || outcome["error"]["code"] == "interrupted";
        if outcome.is_null() && is_exit_of(status, signal) || is_interrupted && !is_exit_of(status, signal) {
            bail!("N12 after {signal:?} it ended with {status} and {outcome}:\n{}", ended.stderr);
        }
        Ok(())
    }
}

fn is_exit_of(status: ExitStatus, signal: Signal) -> bool {
    status.code() == Some(128 + signal.as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a process that got SIGINT, by its exit code and the last line of its output.
    fn answers(code: i32, stdout: &str) -> bool {
        let death = Death::Signal { signal: Signal::INT, patience: PATIENCE };
        death.check(&Ended::new(ExitStatus::from_raw(code << 8), stdout)).is_ok()
    }

    #[test]
    fn an_interrupted_process_answers_with_an_outcome_and_the_code_of_its_signal() {
        let interrupted = "{\"type\":\"task_started\"}\n{\"type\":\"outcome\",\"status\":\"interrupted\"}\n";
        let never_began = "{\"type\":\"outcome\",\"error\":{\"code\":\"interrupted\"}}\n";
        let completed = "{\"type\":\"outcome\",\"status\":\"completed\"}\n";
        assert!(answers(130, interrupted) && answers(130, never_began) && answers(130, completed));
        assert!(answers(0, completed), "it was over just before");
        assert!(!answers(130, "{\"type\":\"task_started\"}\n"), "no outcome");
        assert!(!answers(0, interrupted) && !answers(143, interrupted) && !answers(1, never_began));
    }
}
