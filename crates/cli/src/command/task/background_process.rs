//! `run_in_background`: a second process does the work, and the first one answers as soon as that has begun.
//!
//! The second process is this program with the same command line, environment and directory, plus a hidden flag. It
//! reports its start in one line. Anything else that it prints first is the reason why it did not start, and is passed
//! on.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

use sortie_protocol::{AgentConfig, Event, Fact, Failure, FailureCode, Launched, TaskId, TaskOutcome};
use sortie_sandbox::SpillDir;

use super::Answering;
use crate::error::{self, CommandError};
use crate::render::{Display, StderrProgress, print_json_text};
use crate::session::own_process;

/// Flag of the second process.
pub(super) const FLAG: &str = "apart";

/// Prefix of the task's id and the answer in the line that reports the start.
const STARTED: &str = "started ";

/// Starts the second process and prints its answer, with lines for a person unless progress is for programs. `input` is
/// the request if it came from stdin.
pub(super) fn start(input: Option<&str>, progress: &StderrProgress) -> Result<ExitCode, CommandError> {
    let fail =
        |error: io::Error| CommandError::internal(format!("the background process could not be started: {error}"));
    let flag = OsString::from(format!("--{FLAG}"));
    let mut child = own_process::this_program(own_process::own_arguments().chain([flag]))
        .map_err(fail)?
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(fail)?;
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        stdin.write_all(input.as_bytes()).map_err(fail)?;
    }
    let mut said = String::new();
    let mut stdout = BufReader::new(child.stdout.take().ok_or_else(|| fail(io::ErrorKind::BrokenPipe.into()))?);
    stdout.read_line(&mut said).map_err(fail)?;
    if let Some((task, answer)) = said.strip_prefix(STARTED).and_then(|started| started.split_once(' ')) {
        print_json_text(answer.trim_end())?;
        if progress.is_text() {
            let shown = format!(
                "[Task running in background: {task}]\n\
                You can continue working. Use `sortie task-status {task}` to check progress.\n"
            );
            io::stderr().lock().write_all(shown.as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    stdout.read_to_string(&mut said).map_err(fail)?;
    let ended = child.wait_with_output().map_err(fail)?;
    io::stdout().lock().write_all(said.as_bytes())?;
    io::stderr().lock().write_all(&ended.stderr)?;
    // A killed process has no exit code.
    Ok(ExitCode::from(ended.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

/// Failure for a signal that comes while the second process starts.
pub(super) fn interrupted() -> Failure {
    let message = "interrupted while the background process started; `sortie tasks list` shows whether the task began";
    Failure::new(FailureCode::Interrupted, message)
}

/// Display that reports only the start: nobody listens after that.
pub(super) struct ApartDisplay {
    pub(super) answering: Answering,
    /// Directory of output files.
    pub(super) reports: PathBuf,
    pub(super) is_told: bool,
}

impl ApartDisplay {
    fn tell(&mut self, task_id: TaskId, config: &AgentConfig, notices: &[String]) -> io::Result<()> {
        if std::mem::replace(&mut self.is_told, true) {
            return Ok(());
        }
        let output_file = self.reports.join(format!("{task_id}-output.log"));
        let launched = Launched {
            task_id,
            agent: config.agent.clone(),
            model: config.model.clone(),
            output_file: output_file.exists().then(|| output_file.display().to_string()),
            notices: notices.to_vec(),
        };
        let mut stdout = io::stdout().lock();
        writeln!(stdout, "{STARTED}{task_id} {}", self.answering.contract.encode_launched(&launched))?;
        stdout.flush()?;
        // The caller has its answer and listens no longer; later problems show up wherever the task is looked at.
        let output = SpillDir::open(&self.reports).and_then(|reports| reports.growing(&format!("{task_id}-output")));
        output.map(error::say_in).unwrap_or_default();
        Ok(())
    }
}

impl Display for ApartDisplay {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        match &event.fact {
            Fact::TaskStarted { job } => self.tell(event.task_id, &job.config, &job.notices),
            Fact::TaskResumed { config, notices, .. } => self.tell(event.task_id, config, notices),
            _ => Ok(()),
        }
    }

    fn refresh(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _outcome: &TaskOutcome) -> io::Result<()> {
        Ok(())
    }
}
