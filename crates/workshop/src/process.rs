//! Running other programs: with their output on the screen, captured, or captured within a time budget.

use std::io::Read;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

/// A program that has ended, by itself or by us.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    /// Both output streams, in the order in which they were written.
    pub output: String,
    pub elapsed: Duration,
    /// The budget was used up, so the program and all that it had started were killed.
    pub overran: bool,
}

/// Runs a program with its output on the screen. `false` when it reports failure.
pub fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command.status().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    Ok(status.success())
}

/// Runs a program and returns its standard output; its standard error stays on the screen.
pub fn stdout_of(command: &mut Command) -> Result<String> {
    let name = command.get_program().display().to_string();
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        bail!("{name} failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{name} wrote something that is not UTF-8"))
}

/// Runs a program in a process group of its own, and ends the whole group when the budget is used up.
pub fn within(mut command: Command, budget: Duration) -> Result<Finished> {
    use std::os::unix::process::CommandExt;

    let name = command.get_program().display().to_string();
    let (mut reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer).process_group(0);
    let began = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot run {name}"))?;
    drop(command); // It holds the writing ends, and the reader waits for the last of them to close.

    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("the child has no process id")?;
    let output = thread::spawn(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).into_owned())
    });
    let (sender, ended) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait()));

    let (status, overran) = if let Ok(status) = ended.recv_timeout(budget) {
        (status?, false)
    } else {
        kill_process_group(group, Signal::KILL)?;
        (ended.recv()??, true)
    };
    let elapsed = began.elapsed();
    // A process that was left behind holds the pipe open. Usually there is none, and this fails for that reason.
    kill_process_group(group, Signal::KILL).ok();
    let output = output.join().map_err(|_| anyhow::anyhow!("the thread that reads {name} panicked"))??;
    Ok(Finished { status, output, elapsed, overran })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_come_back_in_order() {
        let finished = within(shell("echo one; echo two >&2; echo three; exit 3"), Duration::from_secs(20)).unwrap();
        assert_eq!(finished.output, "one\ntwo\nthree\n");
        assert_eq!(finished.status.code(), Some(3));
        assert!(!finished.overran);
    }

    #[test]
    fn a_program_beyond_its_budget_is_killed_with_its_children() {
        // The grandchild would hold the pipe open for a minute if only its parent were killed.
        let finished = within(shell("echo begun; sleep 60 & sleep 60"), Duration::from_millis(300)).unwrap();
        assert!(finished.overran);
        assert_eq!(finished.output, "begun\n");
        assert!(finished.elapsed < Duration::from_secs(20), "{:?}", finished.elapsed);
    }

    #[test]
    fn a_process_that_was_left_behind_does_not_hold_us_up() {
        let finished = within(shell("sleep 60 & echo done"), Duration::from_secs(20)).unwrap();
        assert!(finished.status.success());
        assert_eq!(finished.output, "done\n");
    }
}
