//! Questions to a person on the terminal: approvals of calls, and agents' own questions. Progress makes room for them.
//!
//! This module shows one question and reads one line. The engine decides when to ask and what an answer covers. It also
//! cancels a question by dropping it, so that Ctrl-C ends a run here as anywhere.

mod answer;
mod inquiry;
mod pager;
mod question;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::io::{ioctl_fionread, read};
use rustix::termios::{QueueSelector, tcflush, tcgetattr};
use sortie_engine::{Approval, Approver, Inquiry, Question};
use sortie_tools::BoxFuture;
use tokio::net::unix::pipe;

use crate::environment::Confinement;
use crate::error;
use crate::render::{ProgressArea, shell_mark};
use crate::settings::allow_for_good;
use crate::text::terminal::is_in_background;
use crate::text::{Colour, columns, fitted, write_stderr};
use answer::Answer;
use question::{Keeping, Prompt};

/// Longer than any line that a terminal delivers at once.
const MAX_LINE_BYTES: usize = 8192;

/// Far longer than the delay of a signal that was already sent.
const PATIENCE_WITH_SIGNALS: Duration = Duration::from_secs(10);

/// Printed when a question is cancelled: its time is over, or the run ends.
const TOO_LATE: &str = "\n  too late: the question has been withdrawn, and anything typed here is dropped\n";
/// Printed when the answer came from elsewhere.
const ANSWERED: &str = "\n  answered from elsewhere; anything typed here is dropped\n";

/// Space for questions on stderr, and whether it takes colours.
#[derive(Debug, Clone, Copy)]
struct Canvas {
    columns: usize,
    colour: Colour,
}

impl Canvas {
    fn of_stderr() -> Self {
        Self { columns: columns(), colour: Colour::of_stderr() }
    }
}

/// Person at a terminal.
pub(crate) struct TerminalApprover {
    area: ProgressArea,
    /// File for lasting answers, if there is one.
    config: Option<PathBuf>,
    /// Mark in every question if commands have no walls.
    shell_mark: &'static str,
    /// Command line that shows long texts.
    pager: OsString,
}

impl TerminalApprover {
    /// Finds the person, if questions can be seen and answered.
    pub(crate) fn find(
        area: ProgressArea,
        config: Option<&Path>,
        confinement: Confinement,
        pager: OsString,
    ) -> Option<Self> {
        let can_talk = io::stdin().is_terminal() && io::stderr().is_terminal();
        let shell_mark = shell_mark(confinement);
        can_talk.then(|| Self { area, config: config.map(Path::to_owned), shell_mark, pager })
    }

    fn prompt<'a>(&'a self, question: &'a Question) -> Prompt<'a> {
        let keeping = if self.config.is_some() { Keeping::Possible } else { Keeping::Impossible };
        Prompt { question, shell_mark: self.shell_mark, keeping, canvas: Canvas::of_stderr() }
    }

    async fn converse(&self, question: &Question) -> io::Result<Approval> {
        self.area.is_ready().await;
        let mut conversation = Conversation::begin(&self.area, None);
        let prompt = self.prompt(question);
        write_stderr(&prompt.text());
        let choices = prompt.choices();
        loop {
            let Some(line) = conversation.ask(&choices).await? else {
                return Ok(Approval::No { reason: None });
            };
            return Ok(match (answer::read(&line), &question.lasting_rule, &self.config) {
                (Some(Answer::Once), ..) => Approval::Once,
                (Some(Answer::Tree), ..) if !question.rules.is_empty() => Approval::Tree,
                (Some(Answer::Always), Some(rule), Some(config)) => keep(config, rule),
                (Some(Answer::No { reason }), ..) => Approval::No { reason },
                (Some(Answer::Show), ..) if prompt.is_cut() => {
                    pager::show(&self.pager, prompt.whole()).await;
                    continue;
                }
                // Not understood, or not offered.
                _ => continue,
            });
        }
    }
}

/// Asks an agent's question, and reads the answer; `None` at the end of the input.
async fn inquire(area: &ProgressArea, inquiry: &Inquiry<'_>) -> io::Result<Option<String>> {
    area.is_ready().await;
    let mut conversation = Conversation::begin(area, Some(inquiry.answered));
    write_stderr(&inquiry::shown(inquiry, Canvas::of_stderr()));
    let mut answer = inquiry::Answer::default();
    loop {
        let line = if answer.is_begun() {
            conversation.hear(inquiry::PROMPT_AGAIN).await?
        } else {
            conversation.ask(&inquiry::prompt(columns())).await?
        };
        let Some(mut line) = line else {
            drop(conversation);
            error::note(&inquiry::left_open(inquiry));
            return Ok(None);
        };
        // Pasted lines come one by one.
        while ioctl_fionread(io::stdin())? > 0 {
            line += &next_line().await?.unwrap_or_default();
        }
        if let Some(answer) = answer.take(&line) {
            return Ok(Some(answer));
        }
    }
}

/// Saves a rule. If that fails, the rule lasts as long as the run.
fn keep(config: &Path, rule: &str) -> Approval {
    match allow_for_good(config, rule) {
        Ok(()) => {
            error::note(&format!("`{rule}` is allowed from now on; the rule was added to {}", config.display()));
            Approval::Always
        }
        Err(error) => {
            error.report();
            error::note(&format!("`{rule}` is allowed for this task tree only"));
            Approval::Tree
        }
    }
}

/// Waits for the signal of a closed terminal, whose input ends earlier. That end is not an answer: the question stays
/// open until it is cancelled. Without a signal, nobody is there.
async fn let_a_closed_terminal_stop_us() {
    if tcgetattr(io::stdin()).is_err() {
        tokio::time::sleep(PATIENCE_WITH_SIGNALS).await;
    }
}

impl Approver for TerminalApprover {
    fn is_present(&self) -> bool {
        !is_in_background()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            if is_in_background() {
                return Approval::Nobody;
            }
            let asked = self.converse(question).await;
            let_a_closed_terminal_stop_us().await;
            asked.unwrap_or_else(|error| {
                error::warn(&format!("nobody could be asked: {error}"));
                Approval::Nobody
            })
        })
    }

    fn hurry(&self, question: &Question, within: Duration) {
        if self.area.is_held() {
            let choices = self.prompt(question).choices();
            write_stderr(&format!("\n{}{choices}", question::hurried(question.task, within, columns())));
        }
    }

    fn inquire<'a>(&'a self, inquiry: &'a Inquiry<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            if is_in_background() {
                return None;
            }
            let asked = inquire(&self.area, inquiry).await;
            let_a_closed_terminal_stop_us().await;
            asked.unwrap_or_else(|error| {
                error::warn(&format!("nobody could be asked: {error}"));
                None
            })
        })
    }
}

/// Cancels a question that may be shown while the run is left, and drops typed input. The caller ends the process;
/// `say` writes what comes before that.
pub(crate) fn give_up<T>(area: &ProgressArea, say: impl FnOnce() -> T) -> T {
    let is_open = area.is_held();
    if is_open {
        write_stderr(&fitted(TOO_LATE));
    }
    let said = say();
    if is_open && !is_in_background() {
        tcflush(io::stdin(), QueueSelector::IFlush).unwrap_or_default();
    }
    said
}

/// The terminal's time for one question.
struct Conversation<'a> {
    area: &'a ProgressArea,
    /// True if the cursor is after a question.
    is_open: bool,
    /// True while an answer is awaited: dropping it then cancels the question.
    is_waiting: bool,
    /// Set once there is an answer from elsewhere, if that is possible.
    answered: Option<&'a OnceLock<()>>,
}

impl<'a> Conversation<'a> {
    fn begin(area: &'a ProgressArea, answered: Option<&'a OnceLock<()>>) -> Self {
        area.hold();
        Self { area, is_open: false, is_waiting: false, answered }
    }

    /// Shows the choices and waits for a line; `None` at the end of the input.
    async fn ask(&mut self, choices: &str) -> io::Result<Option<String>> {
        // Earlier input did not answer this question.
        tcflush(io::stdin(), QueueSelector::IFlush)?;
        self.hear(choices).await
    }

    /// Waits for a line of which part may have been typed already; `None` at the end of the input.
    async fn hear(&mut self, prompt: &str) -> io::Result<Option<String>> {
        write_stderr(prompt);
        (self.is_open, self.is_waiting) = (true, true);
        let line = next_line().await;
        self.is_waiting = false;
        let line = line?;
        self.is_open = line.is_none();
        Ok(line)
    }
}

/// Next line from the terminal; `None` at the end of the input. Nothing is lost when this is dropped.
async fn next_line() -> io::Result<Option<String>> {
    // A terminal is not a pipe, but can be waited for like one; it is never read as one.
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    pipe::Receiver::from_owned_fd_unchecked(stdin)?.readable().await?;
    // Zero bytes mean the end of the input. A line arrives whole, and nobody else reads, so this does not block.
    if ioctl_fionread(io::stdin())? == 0 {
        return Ok(None);
    }
    let mut bytes = vec![0; MAX_LINE_BYTES];
    let count = read(io::stdin(), &mut bytes)?;
    Ok(Some(String::from_utf8_lossy(&bytes[..count]).into_owned()))
}

impl Drop for Conversation<'_> {
    fn drop(&mut self) {
        if self.is_waiting {
            // Half an answer would become a command in the shell that reads here next.
            if !is_in_background() {
                tcflush(io::stdin(), QueueSelector::IFlush).unwrap_or_default();
            }
            let is_answered = self.answered.is_some_and(|set| set.get().is_some());
            write_stderr(&fitted(if is_answered { ANSWERED } else { TOO_LATE }));
        } else if self.is_open {
            write_stderr("\n");
        }
        self.area.release();
    }
}
