//! Flags for sources of settings and for permissions. Every command takes them.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::environment::{Assignment, Confinement, SET_FLAG, Sources};

/// Settings flags, accepted by every command and listed once, in `sortie --help`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SourceArgs {
    /// Use this configuration file instead of your own
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,

    /// Read variables such as `LLM_API_KEY` from this file; overrides the environment
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    env_file: Option<PathBuf>,

    /// Work in the project of this directory [default: the current directory]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,

    /// Override one setting, e.g. `task_tool.max_depth=1`; see `sortie config show`
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = parse_assignment)]
    set: Vec<Assignment>,

    /// Trust the project's own files for this run; see `sortie trust --dry-run`
    #[arg(long, global = true)]
    trust: bool,

    /// JSON dialect of the Task tool, from the list below [default: sortie]
    #[arg(long, global = true, value_name = "NAME", value_parser = parse_contract, hide_possible_values = true)]
    contract: Option<String>,

    #[command(flatten)]
    permissions: PermissionArgs,
}

/// Permission flags, accepted by every command. They add to the rules of files and the environment.
#[derive(Debug, Args)]
#[command(next_help_heading = "Permissions")]
struct PermissionArgs {
    /// Allow matching calls without asking, e.g. `Edit(docs/**)`; repeatable
    #[arg(long, global = true, value_name = "RULE")]
    allow: Vec<String>,

    /// Ask before matching calls, even where another rule allows them; repeatable
    #[arg(long, global = true, value_name = "RULE")]
    ask: Vec<String>,

    /// Refuse matching calls, even where another rule allows them; repeatable
    #[arg(long, global = true, value_name = "RULE")]
    deny: Vec<String>,

    /// Permission mode: plan, default, accept-edits or bypass
    #[arg(long, global = true, value_name = "MODE")]
    permission_mode: Option<String>,

    /// Give tools access to this directory as well; repeatable
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    add_dir: Vec<String>,

    /// Run commands without walls, with all your rights; see `sortie doctor`
    #[arg(long, global = true)]
    unconfined: bool,
}

impl PermissionArgs {
    /// Settings that these flags stand for.
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
        // A flag of its own overrides `--set` for the same setting.
        let confinement = if permissions.unconfined { Confinement::None } else { Confinement::Walls };
        set.extend(permissions.assignments());
        Self { config, env_file, cwd, root: None, set, trust, contract, confinement }
    }
}

fn parse_assignment(text: &str) -> Result<Assignment, String> {
    let (path, value) = text.split_once('=').ok_or("it must be KEY=VALUE")?;
    Ok(Assignment { flag: SET_FLAG, path: path.trim().to_owned(), value: value.to_owned() })
}

fn parse_contract(text: &str) -> Result<String, String> {
    match sortie_contract::contract(text) {
        Some(_) => Ok(text.to_owned()),
        None => Err(format!(
            "the contracts are {}; s0 to s4 stand for the first five",
            sortie_contract::CONTRACTS.join(", ")
        )),
    }
}
