//! `tasks retry`: starts the same request again, as a new task with a clean context.

use std::process::ExitCode;

use clap::Args;
use sortie_engine::TaskKind;
use sortie_journal::Journal;
use sortie_protocol::TaskRequest;

use crate::command::args::{LimitArgs, with_exit_codes};
use crate::command::task_view::{find, parse_id};
use crate::error::CommandError;
use crate::render::{OutputFormat, Root, ShowArgs};
use crate::session::early_signals::EarlySignals;
use crate::session::presentation::{Presentation, is_held_up, not_started, reporting, stderr_progress};
use crate::session::{self, SessionStart};
use crate::settings::Settings;
use crate::wiring::Plan;

/// Run a task again from the start, as a new task
#[derive(Debug, Args)]
#[command(after_help = with_exit_codes(EXAMPLES))]
pub(super) struct RetryArgs {
    /// Task id or its first letters, with or without `agent-`
    #[arg(value_parser = parse_id)]
    id: String,

    /// Format on stdout
    #[arg(long, value_enum, default_value_t = OutputFormat::Text)]
    output_format: OutputFormat,

    /// Route, alias or model id to use instead
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    show: ShowArgs,
}

const EXAMPLES: &str = "\
The new task has the agent, prompt, model and limits of the old one, unless you
give others, and the permissions granted now. It takes no result from the cache.
The old task is unchanged; `sortie resume` continues that one instead.

Examples:
  sortie tasks retry kvbq
  sortie tasks retry kvbq --model opus --max-cost-usd 2";

pub(super) fn run(args: &RetryArgs, journal: &dyn Journal, settings: &Settings) -> Result<ExitCode, CommandError> {
    let job = journal.beginning(find(journal, &args.id)?.task_id)?;
    let here = settings.places.workspace.display().to_string();
    if job.workspace != here {
        let message = format!("{} worked in {}, not in {here}", job.task, job.workspace);
        return Err(CommandError::usage(message).hint(format!("sortie tasks retry --cwd {} …", job.workspace)));
    }
    if job.fork.is_some() {
        let message =
            format!("{} was forked from its parent's conversation, which a new task would not have", job.task);
        return Err(CommandError::usage(message).hint(format!("sortie resume {}", job.task)));
    }
    // A sub-agent is retried as one, with a sub-agent's report and limits, but for a person instead of its parent.
    let (kind, root) = match job.config.depth {
        0 => (TaskKind::Main, Root::Main),
        _ => (TaskKind::Delegated, Root::SubAgent),
    };
    // If calls may not choose a model, the old one did not, either.
    let same = Some(job.config.model.id).filter(|_| kind == TaskKind::Main || settings.rules().allow_model_override);
    let progress = stderr_progress(&args.show, root, settings, settings.confinement)?;
    let request = TaskRequest {
        title: job.title,
        prompt: job.prompt,
        agent: job.config.agent,
        model: args.model.clone().or(same),
        limits: args.limits.or(job.config.limits),
        context_files: Some(job.context_files).filter(|files| kind == TaskKind::Delegated && !files.is_empty()),
        ..TaskRequest::default()
    };
    let early = EarlySignals::watch(reporting(args.output_format))?;
    let presentation = Presentation::new(args.output_format, &args.show, progress, settings, settings.confinement);
    // A cached answer is not wanted again.
    let plan = Plan::to_work(settings)?.anew();
    match session::run(plan, SessionStart::New { kind, request }, presentation, early)? {
        Err(failure) if is_held_up(&failure) => not_started(&failure, args.output_format),
        ended => Ok(ended?),
    }
}
