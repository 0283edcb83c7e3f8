//! `sortie trust --list`: lists trusted projects with their date and the files that are still covered.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use sortie_sandbox::Workspace;

use crate::error::CommandError;
use crate::text::neutral;
use crate::trust::{Digest, Powerful, PowerfulFile, Store, Trusted};

pub(super) fn run(home: &Path) -> Result<ExitCode, CommandError> {
    let store = Store::read(home)?;
    let mut text = String::new();
    for (root, trusted) in store.iter() {
        text += &format!("{}  since {}  {}\n", neutral::line(root), trusted.since, state(root, trusted));
    }
    if text.is_empty() {
        "No project is trusted.\n".clone_into(&mut text);
    }
    io::stdout().lock().write_all(neutral::block(&text).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Current state of a project's trusted files.
fn state(root: &str, trusted: &Trusted) -> String {
    let Ok(workspace) = Workspace::open(Path::new(root)) else { return "gone".to_owned() };
    let found = Powerful::find(&workspace).files;
    let covered = |path: &str, file: &PowerfulFile| {
        trusted.files.get(path).is_some_and(|known| *known == Digest::of(&file.bytes))
    };
    let uncovered: Vec<&str> =
        found.iter().filter(|(path, file)| !covered(path, file)).map(|(path, _)| path.as_str()).collect();
    let files = match found.len() - uncovered.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    match uncovered.as_slice() {
        [] => files,
        uncovered => format!("{files}; not covered: {}", neutral::line(&uncovered.join(", "))),
    }
}
