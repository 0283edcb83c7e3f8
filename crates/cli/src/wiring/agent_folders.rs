//! Folders that agents, role prompts and templates are read from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie_agents::{Dialect, Scope};
use sortie_engine::{Folder, Holds};
use sortie_sandbox::Workspace;

use crate::error::{CommandError, with_causes};

const PROJECT: [(&str, Holds); 4] = [
    (".sortie/agents", Holds::Agents(Dialect::Ours)),
    (".claude/agents", Holds::Agents(Dialect::Foreign)),
    (".sortie/prompts", Holds::Prompts),
    (".sortie/templates", Holds::Templates),
];

/// Folders of the user, in `user` and in another program's directory, and those of the project that are not the user's.
/// None must exist: a long run notices later ones.
pub(super) fn of(
    user: Option<&Path>,
    foreign: Option<&Path>,
    workspace: &Arc<Workspace>,
) -> Result<Vec<Folder>, CommandError> {
    let ours = [("agents", Holds::Agents(Dialect::Ours)), ("prompts", Holds::Prompts), ("templates", Holds::Templates)];
    let ours = user.into_iter().flat_map(|user| ours.map(|(name, holds)| (user.join(name), holds)));
    let foreign = foreign.into_iter().map(|foreign| (foreign.join("agents"), Holds::Agents(Dialect::Foreign)));
    let own: Vec<_> = ours.chain(foreign).collect();
    // If the project is the user's home directory, its `.claude` belongs to the user.
    let own_places: Vec<PathBuf> = own.iter().map(|(path, _)| meant(path)).collect();
    let mut folders: Vec<Folder> = PROJECT
        .into_iter()
        .filter(|(path, _)| !own_places.contains(&meant(&workspace.root().join(path))))
        .map(|(path, holds)| Folder {
            within: Arc::clone(workspace),
            path: path.to_owned(),
            scope: Scope::Project,
            holds,
        })
        .collect();
    if own.is_empty() {
        return Ok(folders);
    }
    // People keep such files elsewhere and link them here. The user's own links may lead anywhere.
    let anywhere = Workspace::open(Path::new("/")).map_err(|error| CommandError::config(with_causes(&error)))?;
    let anywhere = Arc::new(anywhere);
    for (path, holds) in own {
        match path.to_str() {
            Some(path) => {
                folders.push(Folder {
                    within: Arc::clone(&anywhere),
                    path: path.to_owned(),
                    scope: Scope::User,
                    holds,
                });
            }
            None if path.exists() => {
                return Err(CommandError::config(format!("the path {} is not valid UTF-8", path.display()))
                    .hint("set XDG_CONFIG_HOME to a directory whose path is"));
            }
            None => {}
        }
    }
    Ok(folders)
}

/// Resolves a path as far as it exists.
fn meant(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => meant(parent).join(name),
        _ => path.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_agents::Agents as _;
    use sortie_engine::{AgentFolders, tool_names};

    const AGENT: &str = "---\nname: late\ndescription: Comes later\n---\nYou are late.\n";

    fn put(folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("late.md"), AGENT).unwrap();
    }

    /// Folders of a user with this home, and an untrusted project.
    fn agents(home: &Path, project: &Path) -> AgentFolders {
        let workspace = Arc::new(Workspace::open(project).unwrap());
        let (user, foreign) = (home.join(".config/sortie"), home.join(".claude"));
        let folders = of(Some(&user), Some(&foreign), &workspace).unwrap();
        AgentFolders::new(folders, Arc::new(|_, _| false), tool_names())
    }

    /// Scopes of the agents from files.
    fn owners(agents: &AgentFolders) -> Vec<Scope> {
        let current = agents.current();
        let scopes = current.all().iter().map(|agent| agent.origin.scope);
        scopes.filter(|scope| *scope != Scope::Builtin).collect()
    }

    #[test]
    fn folders_of_the_user_that_are_created_later_are_read() {
        for folder in [".config/sortie/agents", ".claude/agents"] {
            let home = tempfile::tempdir().unwrap();
            let project = home.path().join("project");
            std::fs::create_dir(&project).unwrap();
            let agents = agents(home.path(), &project);
            assert_eq!(owners(&agents), [], "{folder}");
            put(&home.path().join(folder));
            assert_eq!(owners(&agents), [Scope::User], "{folder}");
        }
    }

    #[test]
    fn a_later_folder_belongs_to_the_user_if_the_project_is_the_home() {
        let home = tempfile::tempdir().unwrap();
        let agents = agents(home.path(), home.path());
        put(&home.path().join(".claude/agents"));
        assert_eq!(owners(&agents), [Scope::User]);
        assert_eq!(agents.current().findings(), []);
    }

    #[test]
    fn a_file_in_place_of_a_parent_folder_counts_as_nothing() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(".config"), "a file\n").unwrap();
        assert_eq!(agents(home.path(), home.path()).current().findings(), []);
    }
}
