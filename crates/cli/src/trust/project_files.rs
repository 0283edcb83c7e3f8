//! Files of a project that trust gives power to: found and read within the project, up to a bound.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use sortie_agents::Dialect;
use sortie_engine::files_in;
use sortie_sandbox::{AccessError, FileKind, Workspace};

use crate::environment::{PROJECT_CONFIG, PROJECT_VARIABLES};

/// Longer files are not read.
pub(crate) const MAX_BYTES: u64 = 64 * 1024;

/// File of MCP servers.
pub(crate) const SERVERS: &str = ".mcp.json";
/// Folder of a project's own programs that hooks may run; only its direct entries count.
pub(crate) const HOOKS: &str = ".sortie/hooks";
/// More hooks than anybody has.
const MOST_HOOKS: usize = 100;
/// Files at fixed places.
const FILES: [(&str, Holds); 3] =
    [(PROJECT_CONFIG, Holds::Config), (PROJECT_VARIABLES, Holds::Variables), (SERVERS, Holds::Servers)];
/// Folders that are searched recursively.
const FOLDERS: [(&str, Holds); 4] = [
    (".sortie/agents", Holds::Agent(Dialect::Ours)),
    (".claude/agents", Holds::Agent(Dialect::Foreign)),
    (".sortie/prompts", Holds::Prompt),
    (".sortie/templates", Holds::Template),
];

/// Content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Config,
    Variables,
    Servers,
    Agent(Dialect),
    Prompt,
    Template,
    /// A program.
    Hook,
}

/// Reason why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unread(pub(crate) String);

/// File that trust would give power to.
#[derive(Debug)]
pub(crate) struct PowerfulFile {
    pub(crate) holds: Holds,
    pub(crate) bytes: Vec<u8>,
}

/// Files of a project that trust would give power to.
#[derive(Debug, Default)]
pub(crate) struct Powerful {
    /// Files by path, relative to the project.
    pub(crate) files: BTreeMap<String, PowerfulFile>,
    /// Unreadable files, which are not covered.
    pub(crate) unread: BTreeMap<String, Unread>,
}

/// Reads a file of the project; `None` if there is none.
pub(crate) fn read(workspace: &Workspace, path: &str) -> Result<Option<Vec<u8>>, Unread> {
    let file = match workspace.open_file(path) {
        Ok(file) => file,
        // A folder of that name, such as a Python environment in `.env`, is something else.
        Err(AccessError::NotFound { .. } | AccessError::NotADirectory { .. } | AccessError::IsDirectory { .. }) => {
            return Ok(None);
        }
        Err(error) => return Err(Unread(error.to_string())),
    };
    let mut bytes = Vec::new();
    match file.take(MAX_BYTES + 1).read_to_end(&mut bytes) {
        Ok(read) if read as u64 > MAX_BYTES => Err(Unread(format!("it has more than {MAX_BYTES} bytes"))),
        Ok(_) => Ok(Some(bytes)),
        Err(error) => Err(Unread(error.to_string())),
    }
}

impl Powerful {
    /// Finds and reads all such files.
    pub(crate) fn find(workspace: &Workspace) -> Self {
        let mut found = Self::default();
        for (path, holds) in FILES {
            found.take(workspace, path.to_owned(), holds);
        }
        for (folder, holds) in FOLDERS {
            let listed = files_in(workspace, folder);
            found.unread.extend(listed.unread.into_iter().map(|(path, why)| (path, Unread(why))));
            for path in listed.files {
                found.take(workspace, path, holds);
            }
        }
        found.take_hooks(workspace);
        found
    }

    fn take_hooks(&mut self, workspace: &Workspace) {
        let entries = match workspace.resolve(HOOKS) {
            // The target of a link lies elsewhere, and programs only run from this folder.
            Ok(found) if found.kind == FileKind::Directory && found.relative == Path::new(HOOKS) => {
                workspace.read_dir(&found.relative)
            }
            Ok(_) | Err(AccessError::NotFound { .. } | AccessError::NotADirectory { .. }) => return,
            Err(error) => Err(error),
        };
        let entries = match entries {
            Ok(entries) => entries.take(MOST_HOOKS + 1),
            Err(error) => return drop(self.unread.insert(HOOKS.to_owned(), Unread(error.to_string()))),
        };
        for (number, entry) in entries.enumerate() {
            let unread = match entry.map(|entry| (entry.kind, entry.name.into_string())) {
                Ok(_) if number == MOST_HOOKS => format!("it has more than {MOST_HOOKS} files; the others are not"),
                Ok((FileKind::File, Ok(name))) => {
                    self.take(workspace, format!("{HOOKS}/{name}"), Holds::Hook);
                    continue;
                }
                Ok((FileKind::File, Err(_))) => "it has a file whose name is not UTF-8".to_owned(),
                Ok(_) => continue,
                Err(error) => error.to_string(),
            };
            self.unread.insert(HOOKS.to_owned(), Unread(unread));
        }
    }

    fn take(&mut self, workspace: &Workspace, path: String, holds: Holds) {
        match read(workspace, &path) {
            Ok(Some(bytes)) => {
                self.files.entry(path).or_insert(PowerfulFile { holds, bytes });
            }
            Ok(None) => {}
            Err(unread) => {
                self.unread.insert(path, unread);
            }
        }
    }
}
