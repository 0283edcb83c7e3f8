//! Claims to names: the file that has a name, and the effect on later files that want it.

use sortie_mutant::is_out;

use crate::definition::{AgentDefinition, AgentFile, Dialect, Finding, Scope, Severity, Weight};
use crate::text::hidden_characters::shown;
use crate::text::look_alike::look_alike;

/// Result of the nearest file that claims a name.
#[derive(Debug)]
pub(super) enum Claim {
    Won(Winner),
    /// It is broken. No file further away replaces it: its author meant something else to run.
    Blocked(Broken),
}

/// A definition that counts.
#[derive(Debug)]
pub(super) struct Winner {
    definition: Box<AgentDefinition>,
    dialect: Dialect,
    trusted: bool,
}

/// A file that claims a name but defines no agent.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) error: Finding,
    scope: Scope,
    trusted: bool,
}

impl Broken {
    pub(super) fn new(error: Finding, file: &AgentFile) -> Self {
        Self { error, scope: file.scope, trusted: file.trusted }
    }
}

impl Winner {
    pub(super) fn new(definition: AgentDefinition, file: &AgentFile) -> Self {
        Self { definition: Box::new(definition), dialect: file.dialect, trusted: file.trusted }
    }
}

impl Claim {
    pub(super) fn into_definition(self) -> Option<AgentDefinition> {
        match self {
            Self::Won(winner) => Some(*winner.definition),
            Self::Blocked(_) => None,
        }
    }

    /// Names the file that has the name, for one that does not get it.
    pub(super) fn taken_by(&self) -> String {
        match self {
            Self::Won(winner) => {
                format!("{} has its name", winner.definition.origin.path.as_deref().unwrap_or_default())
            }
            Self::Blocked(broken) => format!("{} has its name and is broken", broken.error.path),
        }
    }

    /// True if a later definition of the name loses to a nearer scope.
    pub(super) fn displaces(&self, file: &AgentFile) -> bool {
        match self {
            Self::Won(winner) => winner.definition.origin.scope != file.scope,
            Self::Blocked(broken) => broken.scope != file.scope,
        }
    }

    /// Finding about a later definition of the name, which does not count. One further away than a trusted file needs
    /// none.
    pub(super) fn against(&self, file: &AgentFile, definition: &AgentDefinition) -> Option<Finding> {
        let name = &definition.name;
        let Winner { definition: winner, dialect, trusted } = match self {
            Self::Won(winner) => winner,
            Self::Blocked(Broken { error, scope, trusted }) => {
                let message = format!("`{name}` does not replace {}, which is broken", error.path);
                let weight = if *scope == file.scope || *trusted { Weight::Ordinary } else { Weight::Displacing };
                return Some(warning(weight, &file.path, message, "fix that file, or delete it"));
            }
        };
        let other = winner.origin.path.as_deref().unwrap_or_default();
        if winner.origin.scope != file.scope {
            let message = format!("`{name}` replaces your {}", file.path);
            let fix = "review the file, then run `sortie trust`; or delete one of the two";
            return (!trusted).then(|| warning(Weight::Displacing, other, message, fix));
        }
        if *dialect != file.dialect {
            let message = format!("`{name}` is also defined in {other}, which takes precedence over this file");
            return Some(warning(Weight::Ordinary, &file.path, message, "delete the one that you do not want"));
        }
        let message = format!("`{name}` is already defined in {other}");
        let already = warning(Weight::Ordinary, &file.path, message, "rename one of the two, or delete it");
        Some(Finding { severity: Severity::Error, ..already })
    }
}

/// Finding about an untrusted project file whose name could be taken for a built-in agent. It does not count, whatever
/// else it contains.
pub(super) fn of_a_builtin_name(builtin: &[AgentDefinition], file: &AgentFile, name: &str) -> Option<Finding> {
    if file.scope != Scope::Project || file.trusted || is_out("built-in-names") {
        return None;
    }
    let taken = builtin.iter().flat_map(|agent| std::iter::once(&agent.name).chain(&agent.aliases));
    let taken = taken.map(String::as_str).find(|taken| look_alike(taken, name))?;
    let is = if taken.eq_ignore_ascii_case(name) { "is".to_owned() } else { format!("looks like `{taken}`,") };
    let message = format!("`{}` {is} a built-in agent's name, so this project's file is set aside", shown(name));
    let fix = "review the file, then run `sortie trust`; or give it a name of its own";
    Some(warning(Weight::SetAside, &file.path, message, fix))
}

fn warning(weight: Weight, path: &str, message: String, fix: &str) -> Finding {
    let (path, fix) = (path.to_owned(), fix.to_owned());
    Finding { severity: Severity::Warning, weight, path, line: None, message, fix }
}
