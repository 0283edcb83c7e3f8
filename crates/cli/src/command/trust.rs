//! `sortie trust`: lets a project's own files do more than narrow settings, and withdraws that trust.

mod effect;
mod list;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueHint};
use sortie_engine::{Clock as _, SystemClock};
use sortie_sandbox::Workspace;

use crate::environment::{Places, Sources};
use crate::error::{self, CommandError, ErrorKind};
use crate::settings::Settings;
use crate::text::neutral;
use crate::trust::{Digest, Powerful, Store, Trusted, Unread};
use effect::TrustEffect;

/// Trust a project's own files, or withdraw trust
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrustArgs {
    /// Directory in the project [default: the current directory]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: Option<PathBuf>,

    /// Show what trust would allow the files to do, and store nothing
    #[arg(long)]
    dry_run: bool,

    /// List the trusted projects
    #[arg(long, conflicts_with_all = ["directory", "dry_run", "revoke"])]
    list: bool,

    /// Withdraw trust from this project
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["directory", "dry_run"])]
    revoke: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Until you trust a project, its files can only narrow your settings: lower limits
count; models, keys, addresses, aliases, variables and agents that replace
built-in ones are ignored with a warning. Trust covers the files as they are
now. After a file is added or changed, run `sortie trust` again. The flag
--trust trusts a project for one run.

Exit codes: 0; 1 if --revoke names a project that is not trusted.

Examples:
  sortie trust --dry-run
  sortie trust
  sortie trust --list
  sortie trust --revoke ../other";

/// Most files listed one by one although they also work untrusted.
const MOST_PLAIN: usize = 10;

pub(crate) fn run(args: &TrustArgs, sources: &Sources) -> Result<ExitCode, CommandError> {
    if args.list {
        return list::run(&Settings::home()?);
    }
    if let Some(named) = &args.revoke {
        return revoke(named, sources);
    }
    let directory = args.directory.as_ref().or(sources.cwd.as_ref());
    let (_, places) = Settings::locate(&Sources { cwd: directory.cloned(), ..sources.clone() })?;
    trust(&places, args.dry_run)
}

fn trust(places: &Places, dry_run: bool) -> Result<ExitCode, CommandError> {
    refuse_to_trust_everything(places)?;
    let workspace = Workspace::open(&places.workspace).map_err(|error| CommandError::config(error.to_string()))?;
    let found = Powerful::find(&workspace);
    let mut text = format!("{}\n{}", places.workspace.display(), told(&found)?);
    let Powerful { files, unread } = found;
    for (path, Unread(why)) in &unread {
        error::warn(&format!("{} is not covered: {why}", neutral::line(path)));
    }
    text += &closing(files.len(), unread.len(), dry_run);
    if !dry_run {
        let digests = files.iter().map(|(path, file)| (path.clone(), Digest::of(&file.bytes))).collect();
        let trusted = Trusted { since: SystemClock.now(), files: digests };
        Store::trust(&places.home, &places.workspace, trusted)?;
    }
    io::stdout().lock().write_all(neutral::block(&text).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Lists each file with the effect of trust in it.
fn told(found: &Powerful) -> Result<String, CommandError> {
    let tools = sortie_engine::tool_names();
    let (mut text, mut plain) = (String::new(), 0);
    for (path, file) in &found.files {
        let TrustEffect { lines, works_untrusted } = effect::of(path, file, &tools)?;
        plain += usize::from(works_untrusted);
        if works_untrusted && plain > MOST_PLAIN {
            continue;
        }
        text += &format!("\n  {}\n", neutral::line(path));
        text.extend(lines.iter().map(|line| format!("    {line}\n")));
    }
    if plain > MOST_PLAIN {
        text += &format!("\n  and {} more agent files, for which trust changes nothing\n", plain - MOST_PLAIN);
    }
    Ok(text)
}

fn closing(count: usize, unread: usize, dry_run: bool) -> String {
    let files = match (count, unread) {
        (0, 0) => "no file, since none needs trust".to_owned(),
        (0, _) => "no file, since none can be read".to_owned(),
        (1, _) => "1 file".to_owned(),
        (count, _) => format!("{count} files"),
    };
    if dry_run {
        format!("\nNothing was stored. `sortie trust` would cover {files}.\n")
    } else {
        format!("\nTrusted. This covers {files}; new or changed files are not covered.\n")
    }
}

/// Refuses a root that holds Sortie's own data: files in it could trust themselves.
fn refuse_to_trust_everything(places: &Places) -> Result<(), CommandError> {
    let Some(project) = places.project_with_home() else { return Ok(()) };
    let (root, project, home) = (places.workspace.display(), project.display(), places.home.display());
    Err(CommandError::usage(format!(
        "{root} cannot be trusted: the list of trusted projects ({home}) lies in {project}, so files there could trust \
         themselves"
    ))
    .hint("set SORTIE_HOME to a directory outside of any project; `--trust` trusts this one for one run"))
}

/// Removes the directory from the list, or else the root of its project. A directory that is gone is matched by name.
fn revoke(named: &Path, sources: &Sources) -> Result<ExitCode, CommandError> {
    let home = Settings::home()?;
    let asked = Sources { cwd: Some(named.to_owned()), ..sources.clone() };
    let absolute = || std::path::absolute(named).unwrap_or_else(|_| named.to_owned());
    let itself = named.canonicalize().unwrap_or_else(|_| absolute());
    let root = Settings::locate(&asked).map_or_else(|_| itself.clone(), |(_, places)| places.workspace);
    for root in [&itself, &root] {
        if Store::revoke(&home, root)? {
            writeln!(io::stdout().lock(), "No longer trusted: {}", neutral::line(&root.display().to_string()))?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    Err(CommandError::new(ErrorKind::NotFound, format!("{} is not trusted", root.display()))
        .hint("`sortie trust --list` names the projects that are"))
}
