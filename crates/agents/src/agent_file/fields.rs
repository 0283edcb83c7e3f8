//! Decodes the fields of an agent: the meaning of each front matter key, and the check of its value.

use crate::agent_file::beginning::{context_files, fork};
use crate::agent_file::limits;
use crate::agent_file::name::name;
use crate::agent_file::output_schema::output_schema;
use crate::agent_file::permission_mode::{Conduct, permission_mode};
use crate::agent_file::servers::servers;
use crate::agent_file::tool_list::{self, Granted};
use crate::agent_file::unsupported_keys;
use crate::agent_file::values::{model, optional_text, text};
use crate::definition::mcp_server::{ServerUse, prefix};
use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::keys::{self, KEYS};
use crate::front_matter::yaml::Entry;
use crate::text::hidden_characters::{self, shown};
use sortie_policy::Rule;
use sortie_protocol::{Fork, Limits, nearest};

const COLORS: [&str; 8] = ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"];

/// Beyond this, a description no longer tells when to use the agent but what it does, and every delegating model reads
/// it each time.
const LONG_DESCRIPTION_CHARS: usize = 2_000;

/// The valid fields of the front matter. Invalid ones are in the report.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) tools: Option<Vec<String>>,
    pub(super) disallowed_tools: Vec<String>,
    pub(super) servers: Vec<ServerUse>,
    pub(super) conduct: Conduct,
    pub(super) model: Option<String>,
    pub(super) limits: Limits,
    pub(super) output_schema: Option<serde_json::Value>,
    pub(super) fork: Option<Fork>,
    pub(super) context_files: Option<Vec<String>>,
    pub(super) color: Option<String>,
    pub(super) initial_prompt: Option<String>,
}

pub(super) fn decode(entries: &[Entry], tools: &[String], report: &mut FileFindings<'_>) -> Fields {
    let mut fields = Fields::default();
    let mut granted = None;
    for required in ["name", "description"] {
        if !entries.iter().any(|entry| entry.key == required) {
            report.missing(required);
        }
    }
    for entry in entries {
        match entry.key.as_str() {
            "name" => fields.name = name(entry, report),
            "description" => fields.description = description(entry, report),
            "tools" => granted = tool_list::granted(entry, tools, report).map(|granted| (granted, entry.line)),
            "disallowedTools" => fields.disallowed_tools = tool_list::disallowed(entry, tools, report),
            "mcpServers" => fields.servers = servers(entry, report),
            "permissionMode" => fields.conduct = permission_mode(entry, report),
            "model" => fields.model = model(entry, report),
            "outputSchema" => fields.output_schema = output_schema(entry, report),
            "fork" => fields.fork = fork(entry, report),
            "contextFiles" => fields.context_files = context_files(entry, report),
            "color" => fields.color = color(entry, report),
            "initialPrompt" => fields.initial_prompt = initial_prompt(entry, report),
            _ if limits::LIMITS.contains(&&*entry.key) => limits::read(entry, &mut fields.limits, report),
            _ => unsupported_keys::check(entry, report).unwrap_or_else(|| unknown(entry, tools, report)),
        }
    }
    if let Some((Granted::These(mut names), line)) = granted {
        // Requesting a server grants its tools, even if the list does not name them.
        names.extend(fields.servers.iter().filter_map(|server| unnamed(server, &names)).collect::<Vec<_>>());
        let asked = names.len();
        let is_denied = |rule: &str| fields.disallowed_tools.iter().any(|denied| denied == rule);
        let name_of = |rule: &str| rule.split_once('(').map_or(rule, |(name, _)| name).to_owned();
        names.retain(|rule| !is_denied(rule) && !is_denied(&name_of(rule)));
        if asked > 0 && names.is_empty() {
            report.error(line, "`disallowedTools` removes all of `tools`", "leave the agent at least one");
        }
        fields.tools = Some(names);
    }
    fields
}

/// The rule for all tools of a server, unless the list names some of them.
fn unnamed(server: &ServerUse, names: &[String]) -> Option<String> {
    let (prefix, rule) = (prefix(server.name()), format!("mcp__{}", server.name()));
    let is_named = |name: &String| *name == rule || name.starts_with(&prefix);
    (rule.parse::<Rule>().is_ok() && !names.iter().any(is_named)).then_some(rule)
}

fn unknown(entry: &Entry, tools: &[String], report: &mut FileFindings<'_>) {
    let key = shown(&entry.key);
    let is_tool = |word: &str| tools.iter().any(|tool| tool == word);
    if entry.key.split(|c: char| !c.is_alphanumeric()).any(is_tool) {
        let fix = "name it in `tools` or `disallowedTools`, on their line or as an item";
        report.error(entry.line, format!("a tool, `{key}`, in place of a key"), fix);
        return;
    }
    if let Some(meant) = keys::narrowing(&entry.key) {
        let does = match meant {
            "tools" => "names the tools that it may use",
            "disallowedTools" => "names the tools that it may not use",
            "permissionMode" => "says what it may do without approval",
            _ => "says how many turns it has",
        };
        report.error(
            entry.line,
            format!("unknown key `{key}`; it looks like a limit, but has no effect"),
            format!("write `{meant}`, which {does}"),
        );
        return;
    }
    let fix = match nearest(&entry.key, KEYS) {
        Some(near) => format!("did you mean `{near}`?"),
        None if report.is_ours() => format!("the keys are {}", KEYS.join(", ")),
        None => "it has no effect here".to_owned(),
    };
    report.strict(entry.line, format!("unknown key `{key}`"), fix);
}

fn description(entry: &Entry, report: &mut FileFindings<'_>) -> Option<String> {
    let mut description = text(entry, report)?;
    if !report.is_ours() {
        description = with_line_breaks(description);
        let (visible, left_out) = hidden_characters::without_harmless(&description);
        if let Some(character) = left_out {
            let message =
                format!("`description` has invisible characters, here {}", hidden_characters::code(character));
            report.warning(entry.line, message, "they were left out; delete them");
            visible.trim().clone_into(&mut description);
        }
        if description.is_empty() {
            report.error(entry.line, "`description` has no visible text", "say when to use the agent");
            return None;
        }
    }
    if let Some(found) = hidden_characters::first(&description) {
        let message = format!("`description` has an invisible character, {}", hidden_characters::code(found.character));
        report.error(entry.line, message, "delete it");
        return None;
    }
    if description.chars().count() > LONG_DESCRIPTION_CHARS {
        let message = format!("`description` has more than {LONG_DESCRIPTION_CHARS} characters");
        report.warning(entry.line, message, "say when to use the agent; what it does belongs in its prompt");
    }
    Some(description)
}

/// Converts `\n`, as other programs write line breaks. It counts as a line break only where no file name could follow,
/// since it may be a path: `C:\new`.
fn with_line_breaks(text: String) -> String {
    let clear = ["\\n\\n", "\\n<", "\\n-", "\\n "].iter().any(|pattern| text.contains(pattern));
    if clear { text.replace("\\n", "\n") } else { text }
}

fn color(entry: &Entry, report: &mut FileFindings<'_>) -> Option<String> {
    let color = optional_text(entry, report)?;
    if COLORS.contains(&color.as_str()) {
        return Some(color);
    }
    report.strict(entry.line, format!("no colour `{}`", shown(&color)), format!("use one of {}", COLORS.join(", ")));
    None
}

fn initial_prompt(entry: &Entry, report: &mut FileFindings<'_>) -> Option<String> {
    let prompt = optional_text(entry, report)?;
    if let Some(found) = hidden_characters::first(&prompt) {
        report.hidden_in_prompt("`initialPrompt`", entry.line, found.character);
    }
    Some(prompt)
}
