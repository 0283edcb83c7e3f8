//! Lines about background work, messages and questions.
//!
//! Text only: the fold of events decides which task a line is about, and whether it is shown.

use sortie_protocol::{Addressee, Fact, MailMark, TaskId};

use super::Subject;
use crate::text::{neutral, width, words};

/// Most tasks named in one line; more are counted.
const NAMED: usize = 5;
/// Columns of a quoted text.
const SAID_COLUMNS: usize = 100;
/// Most characters read of a text.
const READ_CHARS: usize = 400;

/// Place of a line about a background task among such lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mention {
    First,
    Later,
}

/// Lines for a background start, the first in the words that the contract `typed` specifies. The command to look at it
/// appears once a run. The run goes on, so the person cannot work at this terminal.
pub(super) fn launched(child: TaskId, mention: Mention) -> Vec<String> {
    let mut lines = vec![format!("[Task running in background: {child}]")];
    if mention == Mention::First {
        lines.push(format!("Use `sortie task-status {child}` in another terminal to check progress."));
    }
    lines
}

/// `waiting for 2 background tasks: agent-… explore “title”, …`.
pub(super) fn waiting<'a>(tasks: &[TaskId], subject_of: impl Fn(TaskId) -> Option<&'a Subject>) -> String {
    let count = match tasks.len() {
        1 => "a background task".to_owned(),
        count => format!("{count} background tasks"),
    };
    let mut named: Vec<String> = tasks.iter().take(NAMED).map(|task| name(*task, subject_of(*task))).collect();
    if tasks.len() > NAMED {
        named.push(format!("and {} more", tasks.len() - NAMED));
    }
    format!("waiting for {count}: {}", named.join(", "))
}

/// Name of a task whose start may not have been seen.
pub(super) fn name(task: TaskId, subject: Option<&Subject>) -> String {
    subject.map_or_else(|| task.to_string(), |subject| format!("{task} {} “{}”", subject.kind, subject.title))
}

/// Line for any other fact that deserves one. The reader's own words are not repeated.
pub(super) fn remark<'a>(fact: &Fact, subject_of: impl Fn(TaskId) -> Option<&'a Subject>) -> Option<String> {
    match fact {
        Fact::ChildReleased { child, .. } => {
            Some(format!("{} continues in the background", name(*child, subject_of(*child))))
        }
        Fact::ChildAdopted { child, .. } => {
            Some(format!("takes over {}, whose parent has failed", name(*child, subject_of(*child))))
        }
        Fact::MessageArrived { from, text, .. } => {
            Some(format!("message from {}: {}", neutral::line(&from.to_string()), said(text)))
        }
        Fact::MailRead { mail, .. } => read(mail),
        // Questions for a person are asked at the terminal.
        Fact::QuestionAsked { to: Addressee::Parent, text, .. } => Some(format!("asks its parent: {}", said(text))),
        Fact::NotePosted { text } => Some(format!("posts a note: {}", said(text))),
        _ => None,
    }
}

/// Reports were shown when their tasks ended.
fn read(mail: &MailMark) -> Option<String> {
    match mail.messages.len() {
        0 => None,
        1 => Some("has read the message".to_owned()),
        count => Some(format!("has read {count} messages")),
    }
}

fn said(text: &str) -> String {
    let end = text.char_indices().nth(READ_CHARS).map_or(text.len(), |(at, _)| at);
    width::cut(&neutral::line(&text[..end]), SAID_COLUMNS)
}

/// Activity of a task that has nothing to do.
pub(in crate::render) fn idle_line(name: &str, elapsed_ms: u64) -> String {
    format!("  {name} waiting for background tasks · {}", words::elapsed(elapsed_ms))
}

#[cfg(test)]
mod tests {
    use sortie_protocol::Sender;

    use super::*;

    fn id(number: u8) -> TaskId {
        TaskId::from_random([number; 12])
    }

    #[test]
    fn awaited_tasks_are_named_and_many_are_counted() {
        let subject = Subject {
            name: String::new(),
            kind: "explore".to_owned(),
            title: "Find it".to_owned(),
            model: String::new(),
            asked_model: String::new(),
            place: None,
        };
        let known = |task| (task == id(0)).then_some(&subject);
        let two = "waiting for 2 background tasks: agent-aaaaaaaaaaaa explore “Find it”, agent-bbbbbbbbbbbb";
        assert_eq!(waiting(&[id(0), id(1)], known), two);
        let many: Vec<TaskId> = (0..7).map(id).collect();
        assert!(waiting(&many, known).ends_with("agent-eeeeeeeeeeee, and 2 more"), "{}", waiting(&many, known));
    }

    #[test]
    fn the_commands_for_background_tasks_are_shown_once() {
        let told = "Use `sortie task-status agent-aaaaaaaaaaaa` in another terminal to check progress.";
        assert_eq!(launched(id(0), Mention::First), ["[Task running in background: agent-aaaaaaaaaaaa]", told]);
        assert_eq!(launched(id(0), Mention::Later), ["[Task running in background: agent-aaaaaaaaaaaa]"]);
    }

    #[test]
    fn texts_of_agents_and_people_become_one_harmless_line() {
        let from = Sender::Task { task: id(0), agent: "ex\u{1b}plore".to_owned() };
        let message =
            Fact::MessageArrived { number: 1, from, text: "a\nb\u{1b}[2J".repeat(100), command: None, call: None };
        let line = remark(&message, |_| None).unwrap();
        assert!(line.starts_with("message from ex␛plore agent-aaaaaaaaaaaa: a b␛[2J"), "{line}");
        assert!(width::of(&line) < 200 && !line.contains(char::is_control), "{line}");
        let read = |messages: Vec<u32>| {
            remark(&Fact::MailRead { mail: MailMark { messages, ..MailMark::default() }, text: String::new() }, |_| {
                None
            })
        };
        assert_eq!(read(Vec::new()), None, "reports were shown when their tasks ended");
        assert_eq!(read(vec![1, 2]), Some("has read 2 messages".to_owned()));
    }
}
