//! Effects of trust in a file, in words, so that a person can decide.

use std::path::Path;

use sortie_agents::{AgentFile, Dialect, PromptFile, Registry, Scope, ServerReading, TemplateFile, Templates, read};

use crate::error::CommandError;
use crate::settings::{effect, servers_in};
use crate::text::{neutral, width};
use crate::trust::project_files::{Holds, PowerfulFile, SERVERS};

/// Columns of one sentence about an agent, a prompt or a template, whose own words must not fill the screen.
const COLUMNS: usize = 160;

/// Change that trust would make for a file.
#[derive(Debug)]
pub(crate) struct TrustEffect {
    /// One sentence each; empty if there is nothing to say.
    pub(crate) lines: Vec<String>,
    /// True if the file does the same without trust.
    pub(crate) works_untrusted: bool,
}

/// Effect of trust in the file at `path`. A mistake in the file is an error: a trusted file must be right.
pub(crate) fn of(path: &str, file: &PowerfulFile, tools: &[String]) -> Result<TrustEffect, CommandError> {
    let PowerfulFile { holds, bytes } = file;
    let (said, works_untrusted) = match *holds {
        Holds::Config => (effect::of_config(bytes)?, false),
        Holds::Variables => (effect::of_variables(bytes)?, false),
        Holds::Servers => (servers(bytes)?, false),
        Holds::Prompt => (vec![prompt(path, bytes)], false),
        Holds::Template => (vec![template(path, bytes)], false),
        Holds::Hook => (vec!["is a program that hooks may run, with your rights and without walls".to_owned()], false),
        Holds::Agent(dialect) => {
            let (said, works_untrusted) = agent(path, dialect, bytes, tools);
            (vec![said], works_untrusted)
        }
    };
    // Settings are shown whole: the person decides about every word of them.
    let is_setting = matches!(holds, Holds::Config | Holds::Variables | Holds::Servers);
    let columns = if is_setting { usize::MAX } else { COLUMNS };
    let lines = said.iter().map(|line| width::cut(&neutral::line(line), columns)).collect();
    Ok(TrustEffect { lines, works_untrusted })
}

/// Agent whose role prompt the file replaces, or why it replaces none.
fn prompt(path: &str, bytes: &[u8]) -> String {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = PromptFile { path: path.to_owned(), scope: Scope::Project, trusted: true, name, bytes: bytes.to_vec() };
    let (before, after) = (Registry::builtin(), Registry::assemble(Vec::new(), vec![file], &[]));
    if let Some(finding) = after.findings().first() {
        return format!("has no effect: {}; {}", finding.message, finding.fix);
    }
    let mut pairs = before.all().iter().zip(after.all());
    match pairs.find(|(before, after)| before.prompt != after.prompt) {
        Some((_, agent)) => format!("replaces the role prompt of the built-in agent `{}`", agent.name),
        None => "is the same as the built-in role prompt".to_owned(),
    }
}

/// Template in the file, or why it is none.
fn template(path: &str, bytes: &[u8]) -> String {
    let file = TemplateFile { path: path.to_owned(), scope: Scope::Project, trusted: true, bytes: bytes.to_vec() };
    let (templates, findings) = Templates::assemble(vec![file]);
    match (templates.all(), findings.iter().find(|finding| finding.is_error())) {
        ([template], _) => {
            let name = &template.name;
            format!("is the template `{name}`, which also works untrusted, but does not replace one of yours")
        }
        (_, Some(error)) => format!("is not a template: {}; {}", error.message, error.fix),
        (_, None) => "is not a template".to_owned(),
    }
}

/// MCP servers in the file, each with the command or address, or why it is left out.
fn servers(bytes: &[u8]) -> Result<Vec<String>, CommandError> {
    let fault = |what: String| CommandError::config(format!("{SERVERS}: {what}"));
    let line = |(name, reading): (String, Result<ServerReading, String>)| {
        let server = match reading {
            Ok(ServerReading { server, .. }) => server,
            Err(what) => return format!("MCP server `{name}` is left out: {what}"),
        };
        let rights = if server.runs_something() { ", with your rights and without walls" } else { "" };
        format!("MCP server `{name}` {}{rights}", server.in_words())
    };
    Ok(servers_in(bytes).map_err(fault)?.into_iter().map(line).collect())
}

/// Agent in the file, and whether it replaces a built-in one.
fn agent(path: &str, dialect: Dialect, bytes: &[u8], tools: &[String]) -> (String, bool) {
    let bytes = bytes.to_vec();
    let file = AgentFile { path: path.to_owned(), scope: Scope::Project, dialect, trusted: true, bytes };
    let reading = read(&file, tools);
    let untrusted = Registry::assemble(vec![AgentFile { trusted: false, ..file }], Vec::new(), tools);
    match (&reading.name, &reading.definition) {
        (Some(name), None) => (format!("is broken; it would be the agent `{name}` (sortie agents check {path})"), true),
        (None, _) => (format!("is not an agent (sortie agents check {path})"), true),
        (Some(name), Some(_)) if Registry::builtin().get(name).is_ok() => {
            (format!("replaces the built-in agent `{name}`"), false)
        }
        (Some(name), Some(definition)) if untrusted.all().contains(definition) => {
            (format!("is the agent `{name}`, which also works untrusted"), true)
        }
        (Some(name), Some(_)) => (format!("is the agent `{name}` in full; untrusted, it is restricted"), false),
    }
}
