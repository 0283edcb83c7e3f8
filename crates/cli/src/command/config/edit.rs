//! `sortie config edit`: opens the user's configuration in the user's editor, and checks it afterwards.
//!
//! The editor is the one program that Sortie starts outside the sandbox. A person asked for it, for their own file, and
//! a project cannot influence which program it is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{self, ExitCode};

use crate::environment::Sources;
use crate::error::{self, CommandError};
use crate::settings::{Settings, config_template};
use crate::wiring;

pub(super) fn run(sources: &Sources) -> Result<ExitCode, CommandError> {
    let (environment, places) = Settings::locate(sources)?;
    let path = super::user_config(&places)?;
    create(&path).map_err(|error| {
        CommandError::config(format!("the configuration {} cannot be made: {error}", path.display()))
    })?;
    let editor = environment.editor();
    // The shell splits the variable, so that `code --wait` works; the path is an argument, never spliced in.
    let mut script = editor.clone();
    script.push(" \"$1\"");
    let status = process::Command::new("/bin/sh").arg("-c").arg(script).arg("sh").arg(&path).status();
    let status = status.map_err(|error| CommandError::config(format!("the editor could not be started: {error}")))?;
    if !status.success() {
        return Err(CommandError::config(format!("the editor `{}` failed ({status})", editor.display()))
            .hint("name another one in VISUAL or EDITOR"));
    }
    let settings = check(sources)?;
    if settings.warnings.is_empty() {
        error::note(&format!("{} is in order", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates a file of comments only, readable by this user alone: it may come to hold a key.
fn create(path: &Path) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(mut file) => file.write_all(config_template().as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Loads the settings as they are now, and reports their mistakes.
fn check(sources: &Sources) -> Result<Settings, CommandError> {
    let again = |error: CommandError| error.hint("run `sortie config edit` again to correct it");
    let settings = crate::command::load(sources).map_err(again)?;
    if let Some(problem) = settings.each_route().into_iter().find_map(|resolved| resolved.route.err()) {
        return Err(again(problem));
    }
    wiring::models(&settings).map_err(again)?;
    Ok(settings)
}
