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
use crate::error::consent::{self, Consent};
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

    /// Trust without a question, for scripts; the files are shown all the same
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,

    /// Show what trust would allow the files to do, and store nothing
    #[arg(long)]
    dry_run: bool,

    /// List the trusted projects
    #[arg(long, conflicts_with_all = ["directory", "dry_run", "revoke", "yes"])]
    list: bool,

    /// Withdraw trust from this project [default: the current one]
    #[arg(long, value_name = "DIR", num_args = 0..=1, value_hint = ValueHint::DirPath)]
    #[arg(conflicts_with_all = ["directory", "dry_run", "yes"])]
    #[expect(clippy::option_option, reason = "a flag with a value that may be left out")]
    revoke: Option<Option<PathBuf>>,
}

const EXAMPLES: &str = "\
Until you trust a project, its files can only narrow your settings: lower limits
count; models, keys, addresses, aliases, variables and agents that replace
built-in ones are ignored with a warning. Trust covers the files as they are
now. After a file is added or changed, run `sortie trust` again. The flag
--trust trusts a project for one run.

On a terminal, `sortie trust` shows the effects and asks. Only a yes stores
anything. Without a terminal it stores nothing unless --yes is given.

Exit codes: 0; 1 if the answer was not yes, or if --revoke finds a project that
is not trusted; 2 if there was nobody to ask.

Examples:
  sortie trust
  sortie trust --dry-run
  sortie trust --yes ../other
  sortie trust --list
  sortie trust --revoke ../other";

/// Most files listed one by one although they also work untrusted.
const MOST_PLAIN: usize = 10;

pub(crate) fn run(args: &TrustArgs, sources: &Sources) -> Result<ExitCode, CommandError> {
    if args.list {
        return list::run(&Settings::home()?);
    }
    if let Some(named) = &args.revoke {
        let named = named.as_ref().or(sources.cwd.as_ref());
        return revoke(named.map_or(Path::new("."), PathBuf::as_path), sources);
    }
    let directory = args.directory.as_ref().or(sources.cwd.as_ref());
    if let Some(named) = args.directory.as_ref().filter(|named| !named.is_dir()) {
        return Err(CommandError::config(format!("{} is not a directory", named.display()))
            .hint("name a directory in the project, or none for the current one: `sortie trust [DIR]`"));
    }
    let (_, places) = Settings::locate(&Sources { cwd: directory.cloned(), ..sources.clone() })?;
    trust(&places, args)
}

fn trust(places: &Places, args: &TrustArgs) -> Result<ExitCode, CommandError> {
    refuse_to_trust_everything(places)?;
    let workspace = Workspace::open(&places.workspace).map_err(|error| CommandError::config(error.to_string()))?;
    let found = Powerful::find(&workspace);
    let effects = neutral::block(&format!("{}\n{}", places.workspace.display(), told(&found)?)).into_owned();
    let Powerful { files, unread } = found;
    for (path, Unread(why)) in &unread {
        error::warn(&format!("{} is not covered: {why}", neutral::line(path)));
    }
    let extent = extent(files.len(), unread.len());
    if args.dry_run {
        writeln!(io::stdout().lock(), "{effects}\nNothing was stored. `sortie trust` would cover {extent}.")?;
        return Ok(ExitCode::SUCCESS);
    }
    if files.is_empty() && !args.yes {
        writeln!(io::stdout().lock(), "{effects}\nThere is nothing to trust here. Trust would cover {extent}.")?;
        return Ok(ExitCode::SUCCESS);
    }
    // A list that cannot be written must not be asked about.
    Store::read(&places.home)?;
    let mut shown = effects;
    if !args.yes {
        let subject = format!("{shown}\nTrust covers {extent}.\n");
        match consent::ask(&subject, "Trust this?") {
            Consent::Yes => shown.clear(),
            Consent::No => {
                error::note("nothing was stored; the project is as it was");
                return Ok(ExitCode::from(1));
            }
            Consent::Nobody => {
                io::stdout().lock().write_all(subject.as_bytes())?;
                return Err(CommandError::usage("nothing was stored: there is no terminal to ask on")
                    .hint("look at the list, then run `sortie trust --yes`"));
            }
        }
    }
    // The bytes that were shown count, even if a file has changed since.
    let digests = files.iter().map(|(path, file)| (path.clone(), Digest::of(&file.bytes))).collect();
    let trusted = Trusted { since: SystemClock.now(), files: digests };
    Store::trust(&places.home, &places.workspace, trusted)?;
    let gap = if shown.is_empty() { "" } else { "\n" };
    writeln!(io::stdout().lock(), "{shown}{gap}Trusted. This covers {extent}; new or changed files are not covered.")?;
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

/// Files that trust covers, in words.
fn extent(count: usize, unread: usize) -> String {
    match (count, unread) {
        (0, 0) => "no file, since none needs trust".to_owned(),
        (0, _) => "no file, since none can be read".to_owned(),
        (1, _) => "1 file".to_owned(),
        (count, _) => format!("{count} files"),
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
