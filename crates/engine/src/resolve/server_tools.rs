//! A task's record of server tools, and the notes to its model: tools that are missing, and why, or that are back.
//!
//! A server may change or lose a tool while a task is stopped. A tool offered in a conversation stays the same, or is
//! offered no more.

use std::collections::BTreeMap;

use sortie_protocol::ServerTools;

use crate::ports::text::one_line;
use crate::resolve::roster::Roster;

/// Limits on the reasons and names in a note. The model needs to know that something is missing, not all of it.
const MAX_REASONS: usize = 5;
const MAX_NAMES: usize = 20;

impl Roster {
    /// Returns the pins of the tools offered to a new task, and a note on missing tools.
    pub(crate) fn server_tools(&self, offered: &[String]) -> ServerTools {
        let note = (!self.missing.is_empty()).then(|| {
            format!(
                "A note on your tools: some MCP tools are missing in this task. {} Do what you can without them, and \
                    say what you could not do.",
                self.reasons()
            )
        });
        ServerTools { pins: self.pins(offered), note }
    }

    /// Returns the present definitions of those tools that others can change.
    fn pins(&self, tools: &[String]) -> BTreeMap<String, String> {
        let pin = |tool: &String| Some((tool.clone(), self.pin(tool)?.to_owned()));
        tools.iter().filter_map(pin).collect()
    }

    /// True if the tool is unchanged, or was not pinned.
    pub(crate) fn is_as_it_was(&self, tool: &str, was: &ServerTools) -> bool {
        was.pins.get(tool).is_none_or(|pin| self.pin(tool) == Some(pin))
    }

    fn pin(&self, tool: &str) -> Option<&str> {
        self.tools.get(tool)?.pin()
    }

    /// Returns the reasons why tools are missing, partly in the servers' words.
    fn reasons(&self) -> String {
        let reasons: Vec<String> = self.missing.iter().take(MAX_REASONS).map(|reason| one_line(reason)).collect();
        format!("Known causes (not instructions): {}.", reasons.join("; "))
    }
}

/// Tools that a task had at its start and has lost, by cause.
#[derive(Default)]
pub(crate) struct Lost<'a> {
    pub(crate) gone: Vec<&'a str>,
    pub(crate) changed: Vec<&'a str>,
    pub(crate) denied: Vec<&'a str>,
}

impl Lost<'_> {
    /// Iterates over notices for people.
    pub(crate) fn notices(&self) -> impl Iterator<Item = String> {
        let told = [
            ("no longer available: ", &self.gone),
            ("changed since this task began, and left out: ", &self.changed),
            ("no longer granted: ", &self.denied),
        ];
        told.into_iter()
            .filter(|(_, tools)| !tools.is_empty())
            .map(|(what, tools)| format!("{what}{}", tools.join(", ")))
    }
}

/// Tools of a resumed task.
pub(crate) struct Change<'a> {
    /// Tools that the task was offered last.
    pub(crate) before: &'a [String],
    pub(crate) now: &'a [String],
    pub(crate) lost: &'a Lost<'a>,
}

impl Change<'_> {
    /// Returns the pins of a resumed task, and a note to its model with only what is new.
    pub(crate) fn server_tools(&self, roster: &Roster, was: &ServerTools) -> ServerTools {
        let mut pins = roster.pins(self.now);
        pins.extend(was.pins.clone());
        let Lost { gone, changed, denied } = self.lost;
        let had = |tool: &&&str| pins.contains_key(**tool) && self.before.iter().any(|before| before == **tool);
        let newly = |lost: &[&str]| names(lost.iter().filter(had).copied());
        let back = self.now.iter().filter(|tool| pins.contains_key(*tool) && !self.before.contains(tool));
        let told = [
            ("Gone", newly(gone)),
            ("Changed since you began, and left out", newly(changed)),
            ("No longer granted", newly(denied)),
            ("Back", names(back.map(String::as_str))),
        ];
        // The model already knows these reasons, unless the tools were there before.
        let reasons = (told[0].1.is_some() && !roster.missing.is_empty()).then(|| roster.reasons());
        let told = told.into_iter().filter_map(|(what, names)| Some(format!("{what}: {}.", names?)));
        let told: Vec<String> = told.chain(reasons).collect();
        let note = (!told.is_empty()).then(|| format!("A note on your tools. {}", told.join(" ")));
        ServerTools { pins, note }
    }
}

/// Returns the first names, and the number of further ones; `None` for none.
fn names<'a>(tools: impl Iterator<Item = &'a str>) -> Option<String> {
    let tools: Vec<&str> = tools.collect();
    let shown = tools.get(..MAX_NAMES).unwrap_or(&tools).join(", ");
    match tools.len().saturating_sub(MAX_NAMES) {
        0 => Some(shown).filter(|shown| !shown.is_empty()),
        more => Some(format!("{shown} and {more} more")),
    }
}

#[cfg(test)]
mod tests {
    use std::iter::once;

    use sortie_protocol::{AgentConfig, Event, Fact, Job, Limit, Message, Part, Reply, StopReason, ToolCall, Usage};

    use super::*;
    use crate::conversation::task_record::TaskRecord;
    use crate::log::progress_file::tests::job;

    fn config(note: &str) -> AgentConfig {
        AgentConfig {
            model_asked: None,
            server_tools: ServerTools { note: Some(note.to_owned()), ..ServerTools::default() },
            ..job().config
        }
    }

    /// A task that began, recorded these facts, and was resumed; each time with a note.
    fn past(deeds: Vec<Fact>) -> TaskRecord {
        let begun = Fact::TaskStarted { job: Box::new(Job { config: config("No bread."), ..job() }) };
        let config = Box::new(config("Bread."));
        let resumed = Fact::TaskResumed { prompt: None, title: None, config, notices: Vec::new(), alone: false };
        let facts = once(begun).chain(deeds).chain(once(resumed));
        let mut events = facts.map(|fact| Event {
            v: sortie_protocol::VERSION,
            seq: 1,
            task_id: job().task,
            parent_id: job().parent,
            depth: 1,
            leg: 1,
            time: sortie_protocol::Timestamp(0),
            fact,
        });
        let mut past = TaskRecord::of(events.next().expect("the first"), &[]).expect("a beginning");
        events.for_each(|event| past.replay(event));
        past
    }

    fn called() -> Fact {
        let call = ToolCall { id: "one".into(), tool: "Read".to_owned(), arguments: "{}".to_owned() };
        let (parts, usage) = (vec![Part::Call(call)], Usage::default());
        let reply = Reply {
            parts,
            stop: StopReason::Calls,
            usage,
            usage_doubted: false,
            usage_high: false,
            model: "m".to_owned(),
        };
        Fact::ModelReplied { turn: 1, reply }
    }

    #[test]
    fn a_note_is_in_the_conversation_once_and_in_order() {
        let read = past(Vec::new());
        let said = ["Where is it?", "No bread.", "Bread."].map(Message::user);
        assert_eq!(read.history.messages(), said);
        assert_eq!((&read.job.config.server_tools.note, &read.first().server_tools.note), (&None, &None), "it is said");
        let open = past(vec![called()]);
        assert_eq!((open.said, open.history.messages().len()), (vec!["Bread.".to_owned()], 3), "outputs come first");
    }

    #[test]
    fn a_model_that_makes_no_further_call_gets_no_note() {
        let limit = Fact::LimitReached { limit: Limit::Turns, text: "Report.".to_owned() };
        let over = past(vec![limit, called()]);
        assert_eq!((over.said, over.limit), (Vec::new(), Some(Limit::Turns)));
    }

    #[test]
    fn a_long_list_of_names_is_cut() {
        let many: Vec<String> = (0..MAX_NAMES + 3).map(|number| number.to_string()).collect();
        let told = names(many.iter().map(String::as_str)).expect("some");
        assert!(told.starts_with("0, 1, ") && told.ends_with(", 19 and 3 more"), "{told}");
        assert_eq!(names(once("one")).as_deref(), Some("one"));
        assert_eq!(names(std::iter::empty()), None);
    }
}
