//! Reads one template file: from bytes to a template and findings for its author.
//!
//! Our own dialect only: anything without effect is an error. The template is named after its file.

use crate::agent_file::file_stem;
use crate::agent_file::name::is_ours;
use crate::agent_file::values::{model, text};
use crate::definition::{AgentFile, Dialect, Finding, Origin, Scope, TemplateFile};
use crate::front_matter::document::{self, Document, NoDocument};
use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::{self, Entry, Failure, Node, Value};
use crate::templates::body::{Body, INPUT, is_name};
use crate::templates::template::{Argument, Template};
use crate::text::hidden_characters::{self, shown};
use sortie_protocol::nearest;

const KEYS: [&str; 4] = ["description", "agent", "model", "arguments"];
/// Slash names that the program itself answers.
const BUILT_IN: [&str; 1] = ["task-status"];
const MAX_ARGUMENTS: usize = 32;
const MAX_NAME_CHARS: usize = 64;
const A_LIST: &str = "write a list of names, `[path, style]`, or of items with `name` and `default`";

/// Result of reading a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateReading {
    pub(crate) name: String,
    /// Present exactly when no finding is an error.
    pub(crate) template: Option<Template>,
    /// In the order of their lines.
    pub(crate) findings: Vec<Finding>,
}

pub(crate) fn read_template(file: &TemplateFile) -> TemplateReading {
    let name = file_stem(&file.path).unwrap_or_default();
    let TemplateFile { path, scope, trusted, bytes } = file.clone();
    let file = AgentFile { path, scope, dialect: Dialect::Ours, trusted, bytes };
    let mut report = FileFindings::new(&file);
    if !is_ours(&name) || name.chars().count() > MAX_NAME_CHARS {
        let message = format!("`{}` cannot be a template's name", shown(&name));
        let fix = "rename the file: lower-case letters, digits and hyphens, a letter first, at most 64 of them";
        report.error(1, message, fix);
    }
    if BUILT_IN.contains(&name.as_str()) {
        report.error(1, format!("`/{name}` is built in, and no template can take its place"), "rename the file");
    }
    let template = match document::split(&file.bytes) {
        Err(NoDocument::NoFrontMatter) => {
            let fix = "begin it with a line `---`, a line `description: …`, and another `---`";
            report.error(1, "the file does not begin with front matter", fix);
            None
        }
        Err(NoDocument::Broken(defect)) => {
            report.defect(defect);
            None
        }
        Ok(document) => {
            report.set_last_line(document.line_count);
            let path = Some(file.path.clone()).filter(|_| file.scope != Scope::Builtin);
            let origin = Origin { scope: file.scope, path };
            define(&document, &name, origin, &mut report)
        }
    };
    let findings = report.into_findings();
    let broken = findings.iter().any(Finding::is_error);
    TemplateReading { name, template: template.filter(|_| !broken), findings }
}

fn define(document: &Document, name: &str, origin: Origin, report: &mut FileFindings<'_>) -> Option<Template> {
    let entries = match yaml::parse(&document.front_matter, document::FIRST_LINE) {
        Ok(entries) => entries,
        Err(Failure::Refused(defect)) => {
            report.defect(defect);
            return None;
        }
        Err(Failure::Syntax { line, message }) => {
            report.error(line, format!("not YAML: {message}"), "put the value in quotes, or write it as YAML");
            return None;
        }
    };
    if !entries.iter().any(|entry| entry.key == "description") {
        report.missing("description");
    }
    let mut template = Template {
        name: name.to_owned(),
        description: String::new(),
        agent: None,
        model: None,
        arguments: Vec::new(),
        text: document.prompt.clone(),
        origin,
    };
    for entry in &entries {
        match entry.key.as_str() {
            "description" => template.description = one_line(entry, report).unwrap_or_default(),
            "agent" => template.agent = one_line(entry, report),
            "model" => template.model = model(entry, report),
            "arguments" => template.arguments = arguments(entry, report),
            _ => unknown(entry, report),
        }
    }
    check_text(document, &template.arguments, report);
    Some(template)
}

fn unknown(entry: &Entry, report: &mut FileFindings<'_>) {
    let fix = match entry.key.as_str() {
        "name" => "delete the line: a template is named after its file".to_owned(),
        key => match nearest(key, KEYS) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", KEYS.join(", ")),
        },
    };
    report.error(entry.line, format!("unknown key `{}`", shown(&entry.key)), fix);
}

/// A text that fits on one line wherever it is shown.
fn one_line(entry: &Entry, report: &mut FileFindings<'_>) -> Option<String> {
    let text = text(entry, report)?;
    if let Some(found) = hidden_characters::first(&text) {
        let message =
            format!("`{}` has an invisible character, {}", entry.key, hidden_characters::code(found.character));
        report.error(entry.line, message, "delete it");
        return None;
    }
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn arguments(entry: &Entry, report: &mut FileFindings<'_>) -> Vec<Argument> {
    let Value::List(items) = &entry.value.value else {
        report.error(entry.line, "`arguments` must be a list", A_LIST);
        return Vec::new();
    };
    if items.len() > MAX_ARGUMENTS {
        report.error(entry.line, format!("more than {MAX_ARGUMENTS} arguments"), "fewer will do");
    }
    let mut arguments: Vec<Argument> = Vec::new();
    for item in items.iter().take(MAX_ARGUMENTS) {
        let Some(argument) = argument(item, report) else { continue };
        if arguments.iter().any(|known| known.name == argument.name) {
            report.error(item.line, format!("the argument `{}` again", argument.name), "keep one of the two");
        } else {
            arguments.push(argument);
        }
    }
    arguments
}

/// `path`, or `name: path` with a `default`.
fn argument(item: &Node, report: &mut FileFindings<'_>) -> Option<Argument> {
    let (name, default) = match &item.value {
        Value::Text(name) => (name, None),
        Value::Map(entries) => {
            let of = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value.value);
            if let Some(entry) = entries.iter().find(|entry| !["name", "default"].contains(&entry.key.as_str())) {
                let message = format!("an argument has no `{}`", shown(&entry.key));
                report.error(entry.line, message, "it has a `name` and perhaps a `default`");
                return None;
            }
            match (of("name"), of("default")) {
                (Some(Value::Text(name)), None) => (name, None),
                (Some(Value::Text(name)), Some(Value::Text(default))) => (name, Some(default.clone())),
                (Some(Value::Text(_)), Some(_)) => {
                    report.error(item.line, "`default` must be a text", "write it in quotes; \"\" is an empty one");
                    return None;
                }
                _ => {
                    report.error(item.line, "an argument without a name", A_LIST);
                    return None;
                }
            }
        }
        Value::Nothing | Value::List(_) => {
            report.error(item.line, "an argument without a name", A_LIST);
            return None;
        }
    };
    if name == INPUT {
        report.error(item.line, "`input` is the placeholder for free text", "every template has it; delete this one");
        return None;
    }
    if !is_name(name) || name.chars().count() > MAX_NAME_CHARS {
        let fix = "use lower-case letters, digits, `-` and `_`, a letter first";
        report.error(item.line, format!("`{}` cannot be an argument's name", shown(name)), fix);
        return None;
    }
    Some(Argument { name: name.clone(), default })
}

/// Checks that the text and the arguments fit together.
fn check_text(document: &Document, arguments: &[Argument], report: &mut FileFindings<'_>) {
    if document.prompt.is_empty() {
        report.error(document.prompt_line, "no text below the front matter", "write the prompt there");
    }
    if let Some(found) = hidden_characters::first(&document.prompt) {
        report.hidden_in_prompt("the text", document.prompt_line + found.line, found.character);
    }
    let body = Body::parse(&document.prompt);
    let is_known = |name: &str| name == INPUT || arguments.iter().any(|argument| argument.name == name);
    if let Some((name, line)) = body.places().find(|(name, _)| !is_known(name)) {
        let names = arguments.iter().map(|argument| argument.name.as_str()).chain([INPUT]);
        let fix = match nearest(name, names) {
            Some(near) => format!("did you mean `{{{{{near}}}}}`?"),
            None => format!("name it in `arguments`, or write `\\{{{{{name}}}}}` where braces are meant"),
        };
        report.error(document.prompt_line + line, format!("`{{{{{name}}}}}` is not an argument"), fix);
    }
    let placeless = arguments.iter().map(|argument| &*argument.name).filter(|name| !body.has(name));
    let placeless: Vec<String> = placeless.map(|name| format!("`{{{{{name}}}}}`")).collect();
    if !placeless.is_empty() {
        let message = format!("the text has no placeholder for {}", placeless.join(", "));
        report.warning(document.prompt_line, message, "write it where the value belongs, or drop the argument");
    }
}
