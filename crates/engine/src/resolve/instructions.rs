//! Instruction files: a project's instructions to every agent that works in it.
//!
//! They are read when a task starts and become part of its system prompt: nearest first, each text once, up to a size
//! limit. Omitted files are reported. They are words for the model and nothing more: no setting is ever taken from
//! them.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie_policy::Redactor;
use sortie_sandbox::{AccessError, Guard, Workspace};

use crate::ports::redaction::redacted;
use crate::ports::small_files::read_bounded;

/// File names in search order, for each directory.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".sortie/context.md"];

const HEADING: &str = "Instructions of the project that you work in, from its own files, nearest first:";

/// Settings for instruction files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionRules {
    /// The user's directory relative to the workspace: the search goes from here up to the root.
    pub start: PathBuf,
    /// Most bytes of all files together; a file that does not fit into the rest is omitted.
    pub max_bytes: usize,
    /// True if sub-agents also get them.
    pub for_children: bool,
}

impl Default for InstructionRules {
    fn default() -> Self {
        Self { start: PathBuf::new(), max_bytes: 16 * 1024, for_children: false }
    }
}

/// The instructions that apply in one place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Instructions {
    pub files: Vec<InstructionFile>,
    /// Omitted files, and why.
    pub notices: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionFile {
    /// Relative to the workspace.
    pub path: String,
    pub text: String,
}

/// The reason why a file is not among the instructions.
enum Omission {
    Missing,
    Because(String),
}

/// A possible instruction file, and the space for it.
struct Candidate<'a> {
    path: &'a Path,
    /// Bytes left for all files.
    left: &'a mut usize,
    /// Most bytes of one file.
    most: usize,
}

impl Instructions {
    /// Reads the instruction files that `guard` allows; refused files are omitted with a notice.
    pub fn read(workspace: &Workspace, guard: &Arc<dyn Guard>, rules: &InstructionRules) -> Self {
        let readable = workspace.guarded(Arc::clone(guard));
        let mut found = Self::default();
        let mut left = rules.max_bytes;
        for directory in rules.start.ancestors() {
            for name in NAMES {
                found.take(
                    workspace,
                    &readable,
                    Candidate { path: &directory.join(name), left: &mut left, most: rules.max_bytes },
                );
            }
        }
        found
    }

    /// Reads these files, by name and in this order, as far as `guard` allows. Others are omitted with a notice.
    pub(crate) fn chosen(workspace: &Workspace, guard: &Arc<dyn Guard>, paths: &[String], max_bytes: usize) -> Self {
        let readable = workspace.guarded(Arc::clone(guard));
        let mut found = Self::default();
        let mut left = max_bytes;
        for path in paths {
            match found.add(&readable, Candidate { path: Path::new(path), left: &mut left, most: max_bytes }) {
                Ok(()) => {}
                Err(Omission::Missing) => found.left_out(path, "there is no such file"),
                Err(Omission::Because(why)) => found.left_out(path, why),
            }
        }
        found
    }

    /// Replaces each secret by a mark: the files go to the model's provider.
    #[must_use]
    pub(crate) fn without_secrets(mut self, redactor: &Redactor) -> Self {
        for file in &mut self.files {
            file.text = redacted(redactor, std::mem::take(&mut file.text));
        }
        self
    }

    /// Returns a role prompt followed by the instructions.
    pub(crate) fn after(&self, role: &str) -> String {
        let mut text = role.to_owned();
        for (index, file) in self.files.iter().enumerate() {
            let heading = if index == 0 { format!("\n\n{HEADING}") } else { String::new() };
            text += &format!("{heading}\n\n# {}\n{}", file.path, file.text);
        }
        text
    }

    fn take(&mut self, workspace: &Workspace, readable: &Workspace, candidate: Candidate<'_>) {
        let shown = candidate.path.to_string_lossy().into_owned();
        // A link could give any file of the workspace this name, and send it to the model's provider.
        match workspace.resolve(&shown) {
            Ok(resolved) if !NAMES.iter().any(|name| resolved.relative.ends_with(name)) => {
                return self.left_out(&shown, format!("it is a link to {}", resolved.relative.display()));
            }
            // A missing file is not an omission, whatever the rules say about it.
            Err(AccessError::NotFound { .. }) => return,
            _ => {}
        }
        match self.add(readable, candidate) {
            Ok(()) | Err(Omission::Missing) => {}
            Err(Omission::Because(why)) => self.left_out(&shown, why),
        }
    }

    /// Adds a file, unless its text is there already.
    fn add(&mut self, readable: &Workspace, candidate: Candidate<'_>) -> Result<(), Omission> {
        let Candidate { path, left, most } = candidate;
        let shown = path.to_string_lossy().into_owned();
        // One byte beyond the limit tells a file that fits from one that does not.
        let bytes = match read_bounded(readable, &shown, most + 1) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(Omission::Missing),
            Err(why) => return Err(Omission::Because(why)),
        };
        if bytes.len() > most {
            return Err(Omission::Because(too_long(most)));
        }
        let text = String::from_utf8(bytes).map_err(|_| Omission::Because("it is not UTF-8".to_owned()))?;
        let text = text.trim_start_matches('\u{feff}').trim();
        // One text often has two names, by a link or a copy.
        if text.is_empty() || self.files.iter().any(|file| file.text == text) {
            return Ok(());
        }
        match left.checked_sub(text.len()) {
            Some(rest) => *left = rest,
            None => return Err(Omission::Because(too_long(most))),
        }
        self.files.push(InstructionFile { path: shown, text: text.to_owned() });
        Ok(())
    }

    fn left_out(&mut self, path: &str, why: impl Display) {
        self.notices.push(format!("the instructions in {path} were left out: {why}"));
    }
}

fn too_long(most: usize) -> String {
    format!("all such files together may have {most} bytes (`task_tool.context_file_bytes`)")
}
