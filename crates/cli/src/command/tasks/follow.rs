//! `tasks output --follow`: prints the steps of a task as they happen. Leaving it stops nothing.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sortie_engine::Narrator;
use sortie_journal::{Journal, TaskState};
use sortie_protocol::Event;

use crate::command::task_view::find;
use crate::error::{CommandError, ErrorKind, exit_code};

/// Interval of polling: writers are other processes and send no signal.
const PERIOD: Duration = Duration::from_millis(100);

pub(super) fn run(journal: &dyn Journal, id: &str) -> Result<ExitCode, CommandError> {
    let header = find(journal, id)?;
    let task = header.task_id;
    let (mut narrator, mut next) = (Narrator::default(), 1);
    loop {
        // Checked before reading, so that everything written before the end is read.
        let state = journal.standing(task)?.state;
        let (from, mut text) = (next, String::new());
        let mut tell = |event: Event| {
            next = event.seq + 1;
            text += &narrator.tell(&event.fact, event.time);
        };
        let read = journal.read_each(task, from, &mut tell);
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.flush()?;
        drop(stdout);
        // Everything before the damage has been printed.
        read?;
        match state {
            TaskState::Running => wait_for_more()?,
            TaskState::Ended(status) => return Ok(exit_code::of_outcome(status, None)),
            TaskState::Interrupted => {
                return Err(CommandError::new(
                    ErrorKind::NotFound,
                    format!("{task} was interrupted, and no process runs it"),
                )
                .hint(format!("sortie resume {}", header.root_id)));
            }
        }
    }
}

/// Waits for the next poll, and notices a reader that has gone although nothing was written.
fn wait_for_more() -> io::Result<()> {
    let stdout = io::stdout();
    // No events requested: a closed pipe is reported anyway.
    let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
    let period = Timespec { tv_sec: 0, tv_nsec: PERIOD.subsec_nanos().into() };
    match poll(&mut watched, Some(&period)) {
        Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
        Ok(_) => Err(io::ErrorKind::BrokenPipe.into()),
        Err(error) => Err(error.into()),
    }
}
