//! `tasks prune`: removes old trees of tasks now, or shows which ones would be removed.

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use sortie_journal::{Holder, Journal, Kept, KeptFor, Pruned, SqliteJournal, TaskHeader};
use sortie_protocol::TaskId;

use crate::command::args::parse_age;
use crate::error::{self, CommandError};
use crate::render::{print_json, state};
use crate::settings::Settings;
use crate::text::{neutral, words};
use crate::wiring;
use crate::wiring::retention::{self, Removed, before};

/// Remove old tasks, with their reports and stored tool outputs
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PruneArgs {
    /// Remove tasks that ended before this: 30d, 12h [default: `journal.retention_days`]
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    older_than: Option<Duration>,

    /// Show what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON: counts, and the ids of tasks removed and kept
    ///
    /// Tasks are kept if they are damaged, have not ended, or have a result that nobody has collected.
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
A tree of tasks is removed as a whole. It stays while one of its tasks is
running or interrupted, or has a result that its caller has not collected. Once
a day, a run removes old tasks by itself.

Examples:
  sortie tasks prune --dry-run
  sortie tasks prune --older-than 7d";

pub(super) fn run(args: &PruneArgs, settings: &Settings) -> Result<ExitCode, CommandError> {
    let older_than = before(args.older_than.or(settings.retention()).unwrap_or_else(Settings::usual_retention));
    if args.dry_run {
        let headers = wiring::journal_to_read(settings)?.prunable(older_than)?;
        return tell_prunable(&headers, args.json);
    }
    if !settings.places.journal().exists() {
        // Without a journal, none is created.
        return tell(&Removed::default(), args.json);
    }
    let journal = SqliteJournal::open(&settings.places.journal())?;
    tell(&retention::prune(&journal, older_than, &settings.places.reports())?, args.json)
}

fn tell_prunable(headers: &[TaskHeader], json: bool) -> Result<ExitCode, CommandError> {
    if json {
        let ids: Vec<String> = headers.iter().map(|header| header.task_id.to_string()).collect();
        print_json(&json!({"would_remove": ids}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for header in headers {
        let (agent, title) = (neutral::line(&header.agent), words::title(&header.title));
        let _infallible = writeln!(text, "{}  {}  {agent}  {title}", header.task_id, state(header));
    }
    let _infallible = writeln!(text, "{} would be removed", tasks(headers.len()));
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn tell(removed: &Removed, json: bool) -> Result<ExitCode, CommandError> {
    let Removed { pruned, left } = removed;
    let Pruned { tasks: gone, events, bytes, damaged, kept } = pruned;
    if json {
        let ids = |tasks: &[TaskId]| tasks.iter().map(ToString::to_string).collect::<Vec<_>>();
        print_json(&json!({
            "tasks": gone.len(), "events": events, "bytes": bytes,
            "removed": ids(gone), "damaged": ids(damaged), "left": left,
            "kept": kept.iter().map(|kept| kept.root.to_string()).collect::<Vec<_>>(),
        }))?;
    } else {
        let text = format!("{} removed: {events} events, {bytes} bytes\n", tasks(gone.len()));
        io::stdout().lock().write_all(text.as_bytes())?;
    }
    for task in damaged {
        error::warn(&format!("{task} stays: its log is damaged"));
    }
    for why in left {
        error::warn(why);
    }
    for kept in kept {
        error::note(&why_kept(kept));
    }
    Ok(if damaged.is_empty() && left.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Reason why an old tree stays, and what can be done.
fn why_kept(Kept { root, task, why }: &Kept) -> String {
    match why {
        KeptFor::Open { holder: Holder::OutOfSight { pid } } => format!(
            "{root} stays: process {pid} runs {task} out of sight, perhaps in another container; if it is gone, use `sortie resume {task} --take-over`"
        ),
        KeptFor::Open { holder: Holder::Nobody | Holder::ThisProcess | Holder::Other { .. } } => {
            format!("{root} stays: {task} was interrupted; `sortie tasks stop {task}` ends it")
        }
        KeptFor::Uncollected { by } => format!(
            "{root} stays: {by} ended before it read the report of {task}; `sortie resume {by}` delivers it, `sortie tasks output {task}` prints it"
        ),
    }
}

fn tasks(count: usize) -> String {
    if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") }
}
