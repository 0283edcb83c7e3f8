//! Subcommands of `sortie`, one file each: arguments and implementation.

pub(crate) mod agents;
pub(crate) mod args;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod cost;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod mcp;
pub(crate) mod models;
mod person_only;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod task;
pub(crate) mod task_status;
mod task_view;
pub(crate) mod tasks;
pub(crate) mod templates;
pub(crate) mod trust;
mod unknown_command;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Arg, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::environment::Sources;
use crate::error::{self, CommandError};
use crate::settings::Settings;
use args::{SourceArgs, with_exit_codes};

/// Delegate work to sub-agents, each with a clean context, and collect their reports
#[derive(Debug, Parser)]
#[command(name = "sortie", version, arg_required_else_help = true, after_help = with_exit_codes(CONTRACTS_AND_EXAMPLES))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const CONTRACTS_AND_EXAMPLES: &str = "\
Contracts, the JSON dialects of the Task tool, by the kind of host they suit:
  sortie        any host: every field, limits and the full outcome (default)
  envelope      all tools answer in one envelope; fixed roles, two models
  result        users write their own agents and see the messages of each
  delegate      large jobs are handed off to keep the host's own context small
  typed         like Claude Code: agent types, model tiers, background, resuming
  child         like opencode: a parent session opens child sessions
  child-recipe  a minimal agent loop: the shorter form of `child`
The names s0 to s4 stand for envelope, result, delegate, typed and child.

Examples:
  sortie run \"Where are authentication errors handled?\"
  ANTHROPIC_API_KEY=… sortie run \"Explain how requests are retried\"
  sortie task --agent explore --description Find --prompt \"Where is the config?\"
  sortie tasks list";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::RunArgs),
    Resume(resume::ResumeArgs),
    Task(task::TaskArgs),
    Agents(agents::AgentsArgs),
    Templates(templates::TemplatesArgs),
    Tasks(tasks::TasksArgs),
    TaskStatus(task_status::TaskStatusArgs),
    Cost(cost::CostArgs),
    Mcp(mcp::McpArgs),
    Models(models::ModelsArgs),
    Schema(schema::SchemaArgs),
    Config(config::ConfigArgs),
    Explain(explain::ExplainArgs),
    Trust(trust::TrustArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
}

/// Points from a command's help to the options that only the top help lists.
const GLOBAL_OPTIONS: &str = "Global options: see `sortie --help`";

impl Cli {
    /// Reads the arguments of this process. Help and usage errors end it, as clap does.
    pub(crate) fn read() -> Self {
        let args: Vec<OsString> = std::env::args_os().skip(1).collect();
        let matches = command_line().try_get_matches().unwrap_or_else(|error| {
            match unknown_command::explain(&error, &command_line(), &args) {
                Some(advice) => end_with(&advice),
                None => error.exit(),
            }
        });
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command_line()).exit())
    }
}

#[expect(clippy::exit, reason = "as clap ends the process after any other mistake")]
fn end_with(error: &CommandError) -> ! {
    error.report();
    std::process::exit(2)
}

/// The command line with its global options hidden in the help of subcommands, which still accept them.
fn command_line() -> clap::Command {
    let root = Cli::command();
    let hidden: Vec<Arg> =
        root.get_arguments().filter(|arg| arg.is_global_set()).map(|arg| arg.clone().hide(true)).collect();
    // A hidden copy takes the place of the one that clap would pass down.
    root.mut_subcommands(|command| mention_global_options(command.args(hidden.clone())))
}

fn mention_global_options(command: clap::Command) -> clap::Command {
    let after_help = match command.get_after_help() {
        Some(own) => format!("{GLOBAL_OPTIONS}\n\n{own}"),
        None => GLOBAL_OPTIONS.to_owned(),
    };
    command.mut_subcommands(mention_global_options).after_help(after_help)
}

/// Runs the command that was asked for.
pub(crate) fn execute(cli: Cli) -> Result<ExitCode, CommandError> {
    let sources = Sources::from(cli.sources);
    match cli.command {
        Command::Run(args) => run::run(&args, &load(&sources)?),
        Command::Resume(args) => resume::run(&args, &load(&sources)?, &sources),
        Command::Task(args) => task::run(&args, &load(&sources)?),
        Command::TaskStatus(args) => task_status::run(&args, &load(&sources)?),
        Command::Cost(args) => cost::run(&args, &load(&sources)?),
        Command::Tasks(args) => tasks::run(&args, &load(&sources)?, &sources),
        Command::Templates(args) => templates::run(&args, &load(&sources)?),
        Command::Mcp(args) => mcp::run(&args, sources),
        Command::Models(args) => models::run(&args, &load(&sources)?),
        Command::Explain(args) => explain::run(&args, &load(&sources)?),
        Command::Schema(args) => schema::run(&args, &load(&sources)?),
        // These commands must work even with settings that cannot be loaded.
        Command::Config(args) => config::run(&args, &sources),
        Command::Trust(args) => trust::run(&args, &sources),
        // Files named on the command line are checked whatever the settings are.
        Command::Agents(args) => agents::run(&args, &sources),
        // Settings that fail to load are part of the diagnosis.
        Command::Doctor(args) => doctor::run(&args, &sources),
        // Shells ask for completions in any directory and state, so no setting affects them.
        Command::Completions(args) => completions::run(&args, &mut Cli::command()),
    }
}

/// Loads the settings and warns about those that are ignored.
fn load(sources: &Sources) -> Result<Settings, CommandError> {
    let settings = Settings::load(sources)?;
    for warning in &settings.warnings {
        error::warn(warning);
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
        command_line().debug_assert();
    }

    /// Longest short help of a command or an option.
    const LONGEST_HELP: usize = 90;

    /// Lines at the end of a help are laid out by hand.
    const TERMINAL_COLUMNS: usize = 80;

    fn flaw(help: Option<&clap::builder::StyledStr>) -> Option<String> {
        const POOR_OPENINGS: [&str; 9] = ["What", "Whether", "How", "Where", "Who", "Which", "Why", "Of", "The same"];
        let Some(help) = help.map(ToString::to_string) else { return Some("it has no help".to_owned()) };
        let begins_poorly = |opening: &&str| {
            help.strip_prefix(*opening).is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
        };
        if let Some(opening) = POOR_OPENINGS.iter().find(|opening| begins_poorly(opening)) {
            return Some(format!("it begins with {opening:?}: {help}"));
        }
        let length = help.chars().count();
        (length > LONGEST_HELP).then(|| format!("it has {length} characters: {help}"))
    }

    /// Flaws in the help of a command, its options with their values, and the commands below it.
    fn flaws(path: &str, command: &clap::Command) -> Vec<String> {
        let mut flaws: Vec<String> =
            flaw(command.get_about()).map(|flaw| format!("{path}: {flaw}")).into_iter().collect();
        for arg in command.get_arguments() {
            let name = arg.get_id();
            flaws.extend(flaw(arg.get_help()).map(|flaw| format!("{path}, {name}: {flaw}")));
            let values = arg.get_possible_values();
            let helps = values.iter().filter_map(|value| value.get_help());
            flaws.extend(
                helps.filter_map(|help| flaw(Some(help))).map(|flaw| format!("{path}, value of {name}: {flaw}")),
            );
        }
        let end = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let wide = end.lines().filter(|line| line.chars().count() > TERMINAL_COLUMNS);
        flaws.extend(wide.map(|line| format!("{path}: wider than a terminal: {line}")));
        let below = command.get_subcommands().map(|below| self::flaws(&format!("{path} {}", below.get_name()), below));
        flaws.extend(below.flatten());
        flaws
    }

    #[test]
    fn every_command_and_option_has_a_short_plain_help() {
        assert_eq!(flaws("sortie", &command_line()), Vec::<String>::new());
    }
}
