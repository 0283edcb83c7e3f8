//! Hooks as files declare them, `[[hooks]]`, and in resolved form.
//!
//! A hook names a program. [`crate::wiring::hooks`] decides which programs are possible, and runs them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use sortie_agents::Registry;
use sortie_protocol::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::environment::origin::Origin;

const DEFAULT_SECONDS: u64 = 10;
const MOST_SECONDS: u64 = 60;
const KEYS: [&str; 4] = ["on", "command", "timeout_seconds", "agents"];

/// Occasion for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seam {
    /// Before a task starts; the hook can prevent it.
    Started,
    Ended,
    /// A task waits for a person.
    Asks,
}

impl Seam {
    const ALL: [Self; 3] = [Self::Started, Self::Ended, Self::Asks];

    /// Name in settings and in the hook's input.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Started => "task_started",
            Self::Ended => "task_ended",
            Self::Asks => "task_asks",
        }
    }
}

/// One `[[hooks]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HookEntry {
    on: Seam,
    /// Program and arguments.
    command: Vec<String>,
    timeout_seconds: u64,
    /// Agents whose tasks run the hook; empty for all.
    agents: Vec<String>,
}

/// Resolved hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hook {
    pub(crate) on: Seam,
    pub(crate) program: HookProgram,
    pub(crate) arguments: Vec<String>,
    pub(crate) time: Duration,
    /// Agents whose tasks run the hook; empty for all.
    pub(crate) agents: Vec<String>,
    /// Command and origin, for people.
    pub(crate) shown: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookProgram {
    /// Name to look up in `PATH`.
    Named(String),
    At(PathBuf),
}

/// Resolves the declared hooks, in the same order. `path_of` finds the path that a text means at its origin.
pub(super) fn meant<'a>(
    declared: impl Iterator<Item = (&'a HookEntry, &'a Origin)>,
    path_of: impl Fn(&str, &Origin) -> Option<PathBuf>,
) -> Vec<Hook> {
    let hooks = declared.map(|(entry, origin)| {
        let HookEntry { on, command, timeout_seconds, agents } = entry.clone();
        let (name, arguments) = command.split_first().map_or(("", &[][..]), |(name, rest)| (name.as_str(), rest));
        let program = if name.contains('/') {
            HookProgram::At(path_of(name, origin).unwrap_or_else(|| PathBuf::from(name)))
        } else {
            HookProgram::Named(name.to_owned())
        };
        Hook {
            on,
            program,
            arguments: arguments.to_vec(),
            time: Duration::from_secs(timeout_seconds),
            agents,
            shown: format!("`{name}` ({origin})"),
        }
    });
    hooks.collect()
}

/// Warnings about hooks for unknown agents: they never run.
pub(super) fn about_nobody<'a>(
    declared: impl Iterator<Item = (&'a HookEntry, &'a Origin)>,
    agents: &Registry,
) -> Vec<String> {
    let is_nobody = |name: &&String| agents.all().iter().all(|agent| !agent.name.eq_ignore_ascii_case(name));
    let named =
        declared.flat_map(|(entry, origin)| entry.agents.iter().filter(is_nobody).map(move |name| (name, origin)));
    named.map(|(name, origin)| format!("{origin}: `hooks`: `{name}` names an unknown agent")).collect()
}

impl HookEntry {
    /// `notify-send done` when a task ends.
    pub(super) fn in_words(&self) -> String {
        let when = match self.on {
            Seam::Started => "before a task starts",
            Seam::Ended => "when a task has ended",
            Seam::Asks => "when a task waits for a person",
        };
        format!("`{}` {when}", self.command.join(" "))
    }
}

/// Spelling as in a file.
impl fmt::Display for HookEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { on, command, timeout_seconds, agents } = self;
        write!(f, "{{ on = {:?}, command = {command:?}, timeout_seconds = {timeout_seconds}", on.name())?;
        if !agents.is_empty() {
            write!(f, ", agents = {agents:?}")?;
        }
        f.write_str(" }")
    }
}

/// Reads one table, or returns its mistake.
pub(super) fn read(table: &DeTable<'_>) -> Result<HookEntry, String> {
    if let Some(name) = table.keys().map(|name| &**name.get_ref()).find(|name| !KEYS.contains(name)) {
        let instead = match nearest(name, KEYS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has {}", KEYS.join(", ")),
        };
        return Err(format!("`hooks`: a hook has no `{name}`; {instead}"));
    }
    let value = |name: &str| table.get(name).map(Spanned::get_ref);
    let command = words(value("command")).filter(|command| command.first().is_some_and(|program| !program.is_empty()));
    let command =
        command.ok_or("`hooks`: `command` must be a program and its arguments, like [\"notify-send\", \"done\"]")?;
    let agents = match value("agents") {
        None => Vec::new(),
        agents => words(agents)
            .filter(|agents| !agents.is_empty())
            .ok_or("`hooks`: `agents` must be a list of agents, like [\"explore\"]")?,
    };
    Ok(HookEntry { on: seam(value("on"))?, command, timeout_seconds: seconds(value("timeout_seconds"))?, agents })
}

fn seam(value: Option<&DeValue<'_>>) -> Result<Seam, String> {
    let names = Seam::ALL.map(Seam::name);
    let Some(DeValue::String(said)) = value else {
        return Err(format!("`hooks`: `on` must be one of {}", names.join(", ")));
    };
    Seam::ALL.into_iter().find(|seam| seam.name() == said).ok_or_else(|| {
        let near = nearest(said, names).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        format!("`hooks`: `on` must be one of {}, not {said:?}{near}", names.join(", "))
    })
}

fn seconds(value: Option<&DeValue<'_>>) -> Result<u64, String> {
    let Some(value) = value else { return Ok(DEFAULT_SECONDS) };
    let seconds = match value {
        DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    seconds
        .filter(|seconds| (1..=MOST_SECONDS).contains(seconds))
        .ok_or_else(|| format!("`hooks`: `timeout_seconds` must be a whole number from 1 to {MOST_SECONDS}"))
}

/// List of texts; `None` for anything else.
fn words(value: Option<&DeValue<'_>>) -> Option<Vec<String>> {
    let Some(DeValue::Array(items)) = value else { return None };
    let text = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    items.iter().map(text).collect()
}
