//! Agents from folders of Markdown files, read again whenever a file has changed.
//!
//! This module finds and reads files, within bounds and through the sandbox; `sortie-agents` interprets them.

mod files;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use sortie_agents::{
    AgentFile, Agents, Dialect, Finding, MAX_FILE_BYTES, PromptFile, Registry, Scope, Severity, TemplateFile, Weight,
};
use sortie_sandbox::{FileKind, Stamp, Workspace};

pub use self::files::{FolderFiles, files_in};
use crate::ports::small_files::read_bounded;

/// Returns true if the user trusts a project's file, by its path in the workspace and its content.
pub type TrustCheck = Arc<dyn Fn(&str, &[u8]) -> bool + Send + Sync>;

/// A folder that may hold definitions, prompts or templates. It need not exist.
#[derive(Debug, Clone)]
pub struct Folder {
    /// Boundary that no link in the folder can lead out of.
    pub within: Arc<Workspace>,
    /// The folder, relative to `within` or absolute.
    pub path: String,
    pub scope: Scope,
    pub holds: Holds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    Agents(Dialect),
    Prompts,
    Templates,
}

/// Agents from folders, on top of the built-in ones.
pub struct AgentFolders {
    folders: Vec<Folder>,
    trust: TrustCheck,
    tools: Vec<String>,
    read: Mutex<Option<ReadOnce>>,
}

/// Files found, and the registry made from them.
struct ReadOnce {
    listing: Listing,
    registry: Arc<Registry>,
}

/// The files of all folders with their metadata.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing {
    files: Vec<Listed>,
    unread: Vec<Unread>,
}

/// A path that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unread {
    folder: usize,
    path: String,
    why: String,
}

#[derive(Debug, PartialEq, Eq)]
struct Listed {
    folder: usize,
    path: String,
    stamp: Stamp,
}

impl AgentFolders {
    /// Agents from folders in any order; `tools` are the names of all existing tools. Reads nothing yet.
    pub fn new(folders: Vec<Folder>, trust: TrustCheck, tools: Vec<String>) -> Self {
        Self { folders, trust, tools, read: Mutex::default() }
    }

    fn list(&self) -> Listing {
        let mut listing = Listing::default();
        for (index, folder) in self.folders.iter().enumerate() {
            let FolderFiles { files, unread } = files_in(&folder.within, &folder.path);
            listing.unread.extend(unread.into_iter().map(|(path, why)| Unread { folder: index, path, why }));
            for path in files {
                match folder.within.stamp(&path) {
                    Ok(stamp) if stamp.kind == FileKind::Directory => {}
                    Ok(stamp) => listing.files.push(Listed { folder: index, path, stamp }),
                    Err(error) => listing.unread.push(Unread { folder: index, path, why: error.to_string() }),
                }
            }
        }
        listing
    }

    fn assemble(&self, listing: &Listing) -> Registry {
        let (mut agents, mut prompts, mut templates) = (Vec::new(), Vec::new(), Vec::new());
        let mut unread: Vec<Unread> = listing.unread.clone();
        for Listed { folder: index, path, .. } in &listing.files {
            let folder = &self.folders[*index];
            let bytes = match read_bounded(&folder.within, path, MAX_FILE_BYTES + 1) {
                Ok(Some(bytes)) => bytes,
                // It vanished after it was listed, and the next listing will differ.
                Ok(None) => continue,
                Err(why) => {
                    unread.push(Unread { folder: *index, path: path.clone(), why });
                    continue;
                }
            };
            let scope = folder.scope;
            let trusted = scope != Scope::Project || (self.trust)(path, &bytes);
            let shown = folder.shown(path);
            match folder.holds {
                Holds::Agents(dialect) => agents.push(AgentFile { path: shown, scope, dialect, trusted, bytes }),
                Holds::Templates => templates.push(TemplateFile { path: shown, scope, trusted, bytes }),
                Holds::Prompts => {
                    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
                    prompts.push(PromptFile { path: shown, scope, trusted, name, bytes });
                }
            }
        }
        let is_of_agents = |unread: &Unread| matches!(self.folders[unread.folder].holds, Holds::Agents(_));
        let (of_agents, others): (Vec<Unread>, Vec<Unread>) = unread.into_iter().partition(is_of_agents);
        let findings = |unread: Vec<Unread>| unread.iter().map(|unread| self.finding(unread)).collect::<Vec<_>>();
        let registry = Registry::assemble(agents, prompts, &self.tools).with_templates(templates);
        registry.with_unread(findings(of_agents)).with_findings(findings(others))
    }

    fn finding(&self, unread: &Unread) -> Finding {
        Finding {
            severity: Severity::Error,
            weight: Weight::Ordinary,
            path: self.folders[unread.folder].shown(&unread.path),
            line: None,
            message: format!("it was not read: {}", unread.why),
            fix: "make it readable, or remove it".to_owned(),
        }
    }
}

impl Agents for AgentFolders {
    fn current(&self) -> Arc<Registry> {
        let listing = self.list();
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(once) = read.as_ref().filter(|once| once.listing == listing) {
            return Arc::clone(&once.registry);
        }
        let registry = Arc::new(self.assemble(&listing));
        *read = Some(ReadOnce { listing, registry: Arc::clone(&registry) });
        registry
    }
}

impl Folder {
    /// Returns a path as people know it: relative in a project, absolute elsewhere.
    fn shown(&self, path: &str) -> String {
        match self.scope {
            Scope::Project => path.to_owned(),
            Scope::Builtin | Scope::User => self.within.root().join(path).display().to_string(),
        }
    }
}
