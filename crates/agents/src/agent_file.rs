//! Reads an agent file: from its bytes to a definition and findings for its author.

mod beginning;
mod fields;
mod limits;
pub(crate) mod name;
mod output_schema;
mod permission_mode;
mod servers;
mod tool_list;
mod unsupported_keys;
pub(crate) mod values;

pub(crate) use self::tool_list::matches;

use self::fields::Fields;
use crate::definition::{AgentDefinition, AgentFile, Finding, Origin};
use crate::front_matter::document::{self, Document, NoDocument};
use crate::front_matter::entries;
use crate::front_matter::file_findings::FileFindings;
use crate::text::hidden_characters;

/// The result of reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Present exactly when no finding is an error and the file defines an agent.
    pub definition: Option<AgentDefinition>,
    /// In the order of their lines.
    pub findings: Vec<Finding>,
    /// The name that the file claims, if it can be determined, even if the file is broken. `None` for a file that does
    /// not define an agent and does not seem to try.
    pub name: Option<String>,
}

/// Reads one agent file. `tools` are the names of all tools that exist.
pub fn read(file: &AgentFile, tools: &[String]) -> Reading {
    let mut report = FileFindings::new(file);
    let claimed = document::claimed_name(&file.bytes);
    let not_meant_as_one = claimed.is_none() && !report.is_ours();
    let mut name = claimed.or_else(|| file_stem(&file.path));
    let definition = match document::split(&file.bytes) {
        Err(NoDocument::NoFrontMatter) if not_meant_as_one => {
            report.warning(1, "not an agent: it has no front matter", "move it out of the folder, if it is in the way");
            name = None;
            None
        }
        Err(NoDocument::NoFrontMatter) => {
            let fix = "begin it with a line `---`, keys, and another `---`";
            report.error(1, "the file does not begin with front matter", fix);
            None
        }
        Err(NoDocument::Broken(defect)) => {
            report.defect(defect);
            None
        }
        Ok(document) => {
            report.set_last_line(document.line_count);
            let fields = read_fields(&document, tools, &mut report);
            name = fields.as_ref().and_then(|fields| fields.name.clone()).or(name);
            fields.and_then(|fields| define(fields, &document, file, &mut report))
        }
    };
    let findings = report.into_findings();
    let broken = findings.iter().any(Finding::is_error);
    Reading { name, definition: definition.filter(|_| !broken), findings }
}

fn read_fields(document: &Document, tools: &[String], report: &mut FileFindings<'_>) -> Option<Fields> {
    match entries::parse(&document.front_matter, report.dialect()) {
        Err(defect) => {
            report.defect(defect);
            None
        }
        Ok(parsed) => {
            report_stray_lines(&parsed.stray_lines, report);
            for defect in parsed.tolerated {
                report.tolerated(defect);
            }
            Some(fields::decode(&parsed.entries, tools, report))
        }
    }
}

/// Reports them in one finding: one misplaced line often means more below it.
fn report_stray_lines(lines: &[usize], report: &mut FileFindings<'_>) {
    let [first, more @ ..] = lines else { return };
    let mut message = "a line that is not `key: value`".to_owned();
    if !more.is_empty() {
        message += &format!(", and {} more", more.len());
    }
    if !report.is_ours() {
        message += ", left out";
    }
    report.strict(*first, message, "make it part of a value, or delete it");
}

/// The definition, if all required fields are present.
fn define(
    fields: Fields,
    document: &Document,
    file: &AgentFile,
    report: &mut FileFindings<'_>,
) -> Option<AgentDefinition> {
    if document.prompt.is_empty() {
        report.error(document.prompt_line, "no prompt below the front matter", "write the agent's prompt there");
    }
    if let Some(found) = hidden_characters::first(&document.prompt) {
        report.hidden_in_prompt("the prompt", document.prompt_line + found.line, found.character);
    }
    Some(AgentDefinition {
        name: fields.name?,
        aliases: Vec::new(),
        description: fields.description?,
        prompt: document.prompt.clone(),
        tools: fields.tools,
        disallowed_tools: fields.disallowed_tools,
        servers: fields.servers,
        mode: fields.conduct.mode,
        never_asks: fields.conduct.never_asks,
        approves_reads: false,
        model: fields.model,
        limits: fields.limits,
        output_schema: fields.output_schema,
        fork: fields.fork,
        context_files: fields.context_files,
        color: fields.color,
        initial_prompt: fields.initial_prompt,
        delegable: true,
        origin: Origin { scope: file.scope, path: Some(file.path.clone()) },
    })
}

/// The default name of a file that does not state one.
pub(crate) fn file_stem(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    let stem = name.strip_suffix(".md").unwrap_or(name);
    (!stem.is_empty()).then(|| stem.to_owned())
}
