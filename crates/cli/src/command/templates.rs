//! `sortie templates`: lists the templates and shows their text.

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use sortie_agents::{Agents as _, Argument, Finding, Template, Templates};

use crate::error::{self, CommandError, ErrorKind};
use crate::settings::Settings;
use crate::text::{neutral, table};
use crate::wiring;
use crate::wiring::agent_warnings::plainly;

/// List or show task templates
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TemplatesArgs {
    #[command(subcommand)]
    command: Option<TemplatesCommand>,
}

#[derive(Debug, Subcommand)]
enum TemplatesCommand {
    /// List templates with their arguments and purpose (the default)
    #[command(after_help = "Example:\n  sortie templates list")]
    List,
    /// Show one template: its arguments, agent and text
    #[command(after_help = "Example:\n  sortie templates show test-file")]
    Show {
        /// Name of the template
        name: String,
    },
}

const EXAMPLES: &str = "\
A template is a Markdown file with front matter, in .sortie/templates of the
project or in $XDG_CONFIG_HOME/sortie/templates. It is named after its file:

  ---
  description: Translate one file
  agent: general-purpose
  arguments: [path, {name: to, default: German}]
  ---
  Translate {{path}} to {{to}}. {{input}}

Six are built in. A file of yours, or of a project that you trust, replaces the
built-in one of its name.

Examples:
  sortie templates
  sortie templates show test-file
  sortie run --template test-file path=src/a.rs \"only the public functions\"
  sortie run \"/test-file path=src/a.rs only the public functions\"";

pub(crate) fn run(args: &TemplatesArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let agents = wiring::agents(settings)?.current();
    complain(agents.findings(), settings);
    let templates = agents.templates();
    let text = match &args.command {
        None | Some(TemplatesCommand::List) => list(templates),
        Some(TemplatesCommand::Show { name }) => {
            show(templates.get(name).map_err(|error| CommandError::new(ErrorKind::NotFound, error.to_string()))?)
        }
    };
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Warns about mistakes in template files.
fn complain(findings: &[Finding], settings: &Settings) {
    let folders = settings.places.templates();
    let is_templates =
        |finding: &&Finding| folders.iter().any(|folder| std::path::Path::new(&finding.path).starts_with(folder));
    findings.iter().filter(is_templates).for_each(|finding| error::warn(&neutral::line(&plainly(finding))));
}

fn list(templates: &Templates) -> String {
    let row = |template: &Template| {
        let Template { name, description, origin, .. } = template;
        [name.clone(), template.usage(), origin.scope.to_string(), description.clone()]
    };
    table(&templates.all().iter().map(row).collect::<Vec<_>>())
}

fn show(template: &Template) -> String {
    let Template { name, description, agent, model, arguments, text, origin } = template;
    let mut rows = vec![
        ["name".to_owned(), name.clone()],
        ["origin".to_owned(), origin.to_string()],
        ["description".to_owned(), description.clone()],
        ["agent".to_owned(), agent.clone().unwrap_or_else(|| "the agent that is asked".to_owned())],
        ["model".to_owned(), model.clone().unwrap_or_else(|| "its agent's".to_owned())],
    ];
    rows.extend(arguments.iter().map(|Argument { name, default }| {
        let default =
            default.as_ref().map_or_else(|| "must be given".to_owned(), |value| format!("{value:?} if not given"));
        [format!("{name}="), default]
    }));
    format!("{}\n{}\n", table(&rows), neutral::block(text))
}
