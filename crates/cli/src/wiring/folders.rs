//! The folders that agents, role prompts and templates are read from.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use sortie_agents::{Dialect, Scope};
use sortie_engine::{Folder, Holds};
use sortie_sandbox::Workspace;

use super::chain;
use crate::error::CommandError;
use crate::settings::Places;

const PROJECT: [(&str, Holds); 4] = [
    (".sortie/agents", Holds::Agents(Dialect::Ours)),
    (".claude/agents", Holds::Agents(Dialect::Foreign)),
    (".sortie/prompts", Holds::Prompts),
    (".sortie/templates", Holds::Templates),
];

/// The folders of the user that there are, and those of the project that are not the user's.
pub(super) fn of(places: &Places, workspace: &Arc<Workspace>) -> Result<Vec<Folder>, CommandError> {
    let ours = [("agents", Holds::Agents(Dialect::Ours)), ("prompts", Holds::Prompts), ("templates", Holds::Templates)];
    let ours = places.user.iter().flat_map(|user| ours.map(|(name, holds)| (user.join(name), holds)));
    let foreign = places.foreign.iter().map(|foreign| (foreign.join("agents"), Holds::Agents(Dialect::Foreign)));
    let present: Vec<_> = ours.chain(foreign).filter(|(path, _)| may_exist(path)).collect();
    // Where the project is the user's home directory, its `.claude` is the user's own.
    let is_users = |path: &str| {
        let path = workspace.root().join(path).canonicalize().ok();
        path.is_some() && present.iter().any(|(own, _)| own.canonicalize().ok() == path)
    };
    let mut folders: Vec<Folder> = PROJECT
        .into_iter()
        .filter(|(path, _)| !is_users(path))
        .map(|(path, holds)| Folder {
            within: Arc::clone(workspace),
            path: path.to_owned(),
            scope: Scope::Project,
            holds,
        })
        .collect();
    if present.is_empty() {
        return Ok(folders);
    }
    // People keep such files elsewhere and link them here. Their own links are their own word.
    let anywhere = Workspace::open(Path::new("/")).map_err(|error| CommandError::config(chain(&error)))?;
    let anywhere = Arc::new(anywhere);
    for (path, holds) in present {
        let Some(path) = path.to_str() else {
            return Err(CommandError::config(format!("the path {} is not valid UTF-8", path.display()))
                .hint("set XDG_CONFIG_HOME to a directory whose path is"));
        };
        folders.push(Folder { within: Arc::clone(&anywhere), path: path.to_owned(), scope: Scope::User, holds });
    }
    Ok(folders)
}

/// Whether there is something. What cannot be looked at counts, so that its reader says why.
fn may_exist(path: &Path) -> bool {
    let absent = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    path.metadata().map_or_else(|error| !absent(error.kind()), |_| true)
}
