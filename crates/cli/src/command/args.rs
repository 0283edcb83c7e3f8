//! The command line as clap sees it. The file of each command decides what its flags mean.

mod limits;
pub(in crate::command) mod output_schema;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use super::{
    agents, completions, config, cost, doctor, explain, mcp, models, resume, run, schema, task, task_status, tasks,
    templates, trust,
};
use crate::environment::{Assignment, Confinement, SET_FLAG, Sources};

pub(crate) use limits::LimitArgs;

/// Send sub-agents out to work, each with a clean context, and get their reports back.
#[derive(Debug, Parser)]
#[command(name = "sortie", version, arg_required_else_help = true, after_help = with_exit_codes(EXAMPLES))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) sources: SourceArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  sortie run \"Where are authentication errors handled?\"
  ANTHROPIC_API_KEY=… sortie run \"Explain how requests are retried\"
  sortie task --agent explore --description \"Find it\" --prompt \"Where is X?\"
  sortie tasks list";

const EXIT_CODES: &str = "\
Exit codes:
  0    completed
  1    failed, partial, cancelled or rejected; no such task or agent; a task that
       cannot be had now: it runs elsewhere, its parent waits for it, or its log
       is damaged; a disk that is full or fails
  2    wrong usage or configuration
  129  ended by SIGHUP, 130 by SIGINT, 143 by SIGTERM";

/// The end of a command's help, for commands that run something.
pub(crate) fn with_exit_codes(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

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

/// What a command prints that tells something and runs nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Text,
    /// One object
    Json,
}

/// Where settings come from; every command takes these.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SourceArgs {
    /// Read this configuration instead of the user's own
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,

    /// Read variables like `LLM_API_KEY` from this file; they win over the environment
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    env_file: Option<PathBuf>,

    /// Work in this directory's project instead of the current one's
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,

    /// Set one setting for this run, e.g. `task_tool.max_depth=1`; `sortie config show` lists them
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = parse_assignment)]
    set: Vec<Assignment>,

    /// Trust this project's own files for this run; `sortie trust` says what they would do
    #[arg(long, global = true)]
    trust: bool,

    /// Speak this dialect of the Task tool: envelope, result, delegate, typed, child (or s0 to s4), child-recipe, sortie
    #[arg(long, global = true, value_name = "NAME", value_parser = parse_contract, hide_possible_values = true)]
    contract: Option<String>,

    #[command(flatten)]
    permissions: PermissionArgs,
}

/// What agents may do; every command takes these, and they add to what files and the environment say.
#[derive(Debug, Args)]
#[command(next_help_heading = "Permissions")]
struct PermissionArgs {
    /// Allow what this rule covers without a question, e.g. `Edit(docs/**)`; can be repeated
    #[arg(long, global = true, value_name = "RULE")]
    allow: Vec<String>,

    /// Ask before what this rule covers, whatever is allowed; can be repeated
    #[arg(long, global = true, value_name = "RULE")]
    ask: Vec<String>,

    /// Refuse what this rule covers, whatever else is said; can be repeated
    #[arg(long, global = true, value_name = "RULE")]
    deny: Vec<String>,

    /// What is allowed without a question: plan, default, accept-edits or bypass
    #[arg(long, global = true, value_name = "MODE")]
    permission_mode: Option<String>,

    /// Let tools see this directory, too; can be repeated
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    add_dir: Vec<String>,

    /// Run commands without walls: they can do whatever you can. For machines on which `sortie doctor` finds none
    #[arg(long, global = true)]
    unconfined: bool,
}

impl PermissionArgs {
    /// The settings that these flags are short for.
    fn assignments(self) -> impl Iterator<Item = Assignment> {
        let flags = [
            ("--allow", "permissions.allow", self.allow),
            ("--ask", "permissions.ask", self.ask),
            ("--deny", "permissions.deny", self.deny),
            ("--permission-mode", "permissions.mode", self.permission_mode.into_iter().collect()),
            ("--add-dir", "permissions.add_dirs", self.add_dir),
        ];
        flags.into_iter().flat_map(|(flag, path, values)| {
            values.into_iter().map(move |value| Assignment { flag, path: path.to_owned(), value })
        })
    }
}

impl From<SourceArgs> for Sources {
    fn from(args: SourceArgs) -> Self {
        let SourceArgs { config, env_file, cwd, mut set, trust, contract, permissions } = args;
        // The flag that is for one setting alone is stronger than the one for all.
        let confinement = if permissions.unconfined { Confinement::None } else { Confinement::Walls };
        set.extend(permissions.assignments());
        Self { config, env_file, cwd, set, trust, contract, confinement }
    }
}

fn parse_assignment(text: &str) -> Result<Assignment, String> {
    let (path, value) = text.split_once('=').ok_or("it must be KEY=VALUE")?;
    Ok(Assignment { flag: SET_FLAG, path: path.trim().to_owned(), value: value.to_owned() })
}

fn parse_contract(text: &str) -> Result<String, String> {
    match sortie_contract::contract(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!("there are {}, and s0 to s4 for the first five", sortie_contract::CONTRACTS.join(", "))),
    }
}

/// Reads `90s`, `5m`, `1h`, `1500ms`, or a bare number of seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be more than nothing".to_owned()),
        duration => Ok(duration),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_hours(24 * 3650);
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("write it like 90s, 5m or 1h; a bare number is seconds".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "write it like 90s, 5m or 1h; a bare number is seconds".to_owned())?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(duration) if duration <= MOST => Ok(duration),
        _ => Err("it is too long".to_owned()),
    }
}

/// Reads how old something is: `30d`, or any other duration.
pub(crate) fn parse_age(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').and_then(|days| days.trim().parse::<u32>().ok());
    match days {
        Some(days) => Ok(Duration::from_hours(u64::from(days) * 24)),
        None => duration(text).map_err(|_| "write it like 30d or 12h".to_owned()),
    }
}

/// Reads how many of something are wanted: at least one.
pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("it must be a whole number of at least 1".to_owned()),
        Ok(count) => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_count_is_at_least_one() {
        assert_eq!(parse_count("7"), Ok(7));
        assert!(["", "0", "-1", "many"].into_iter().all(|text| parse_count(text).is_err()));
    }

    #[test]
    fn an_age_has_days_too() {
        assert_eq!(parse_age("30d"), Ok(Duration::from_hours(720)));
        assert_eq!(["0d", "0s", "0"].map(parse_age), [Ok(Duration::ZERO), Ok(Duration::ZERO), Ok(Duration::ZERO)]);
        assert_eq!(parse_age("12h"), Ok(Duration::from_hours(12)));
        assert!(["", "d", "-1d", "1.5d", "old"].into_iter().all(|text| parse_age(text).is_err()));
    }

    #[test]
    fn durations_have_units_and_a_bare_number_is_seconds() {
        for (text, ms) in
            [("90s", 90_000), ("5m", 300_000), ("1h", 3_600_000), ("1500ms", 1_500), ("7", 7_000), ("0.5", 500)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "0", "0s", "-1", "5 minutes", "1e9", "1.2.3", "99999999999999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
