//! The one place that decides: a grant, made ready once, answers for call after call.

mod confinement;
mod layer;
mod line;
mod matcher;
mod rules;
mod target;

use std::path::{Component, Path, PathBuf};

use sortie_mutant::is_out;
use sortie_protocol::{Grant, Resource};
use sortie_shell_reader::{self as shell_reader, analyse_in, printable};

pub use self::confinement::{Access, Confinement, NetworkReach, Writes};
use self::layer::{Layer, Least};
use self::line::{Line, Open};
use self::matcher::Role;
use self::rules::Rules;
use self::target::Target;
use crate::decision::{Decision, Ground, Why};
use crate::protected;
use crate::remedy::Gap;
use crate::rule::RuleError;
use crate::rule::path::{Base, Literal};
use crate::tool::{self, Kind, ToolSet};

/// Where things are, as far as rules speak of it. All paths absolute and resolved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The workspace root: what relative paths are relative to.
    pub root: Option<PathBuf>,
    /// Directories that were added to the workspace. What permits a single name permits it in them, not above them.
    pub added: Vec<PathBuf>,
    /// What `~/` in a rule stands for.
    pub home: Option<PathBuf>,
    /// Sortie's own settings and state: no agent may change what is in there.
    pub own: Vec<PathBuf>,
}

impl Places {
    /// A path from the root of the file system; `None` for a relative one where the workspace root is not known.
    fn absolute(&self, path: &Path) -> Option<PathBuf> {
        let root = self.root.as_deref();
        let absolute = if path.is_absolute() { Some(path.to_owned()) } else { root.map(|root| root.join(path)) };
        // Without the slash that an empty path leaves at the end.
        absolute.map(|path| path.components().collect())
    }

    /// A path as it is usually named: relative to the workspace root where it lies in it.
    fn named(&self, path: &Path) -> PathBuf {
        self.root.as_deref().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path).to_owned()
    }

    /// The place that a pattern names, as it is usually named.
    fn of_literal(&self, Literal { base, path }: Literal<'_>) -> PathBuf {
        match base {
            Base::Anywhere | Base::Workspace => path.to_owned(),
            Base::Home | Base::FileSystem => self.named(&Path::new("/").join(path)),
        }
    }

    /// Whether an absolute path lies in the workspace or in a directory that was added to it.
    fn hold(&self, path: &Path) -> bool {
        self.root.iter().chain(&self.added).any(|directory| path.starts_with(directory))
    }
}

/// A grant made ready for deciding.
#[derive(Debug)]
pub struct Judge {
    layers: Vec<Layer>,
    places: Places,
}

/// A call as the layers look at it.
pub(crate) struct Call<'a> {
    /// The canonical name.
    tool: &'a str,
    kind: Kind,
    names: Called,
    target: Target<'a>,
}

/// A tool as rules know it, as sets of one; empty for tools that are not known. More in a set are any of them.
#[derive(Clone, Copy)]
pub(crate) struct Called {
    /// By its exact name: for what permits.
    exactly: ToolSet,
    /// By its name in any letter case: for what forbids.
    roughly: ToolSet,
}

impl Called {
    fn new(tool: &str) -> Self {
        Self { exactly: ToolSet::of(tool), roughly: ToolSet::of(tool::canonical_in_any_case(tool)) }
    }

    /// Any tool of a kind.
    fn of_kind(kind: Kind) -> Self {
        let tools = ToolSet::of_kind(kind);
        Self { exactly: tools, roughly: tools }
    }
}

impl Judge {
    /// Reads all rules of a grant. One that cannot be read is an error: a task with such a grant must not run.
    pub fn new(grant: &Grant, places: Places) -> Result<Self, RuleError> {
        let layers = grant.layers.iter().map(|layer| Layer::new(layer, places.home.as_deref()));
        Ok(Self { layers: layers.collect::<Result<_, _>>()?, places })
    }

    /// Decides one call. The strictest layer decides; of equally strict ones the first is named.
    pub fn decide(&self, tool: &str, resource: &Resource) -> Decision {
        if let Resource::Command { line, directory } = resource {
            return self.decide_line(tool, line, directory);
        }
        let tool = tool::canonical(tool);
        let kind = tool::kind(tool);
        let target = match Target::new(resource, &self.places) {
            Ok(target) => target,
            Err(what) => return unclear(what),
        };
        let names = Called::new(tool);
        if names.roughly.meets(ToolSet::of_kind(Kind::Editing))
            && let Resource::Path(path) = resource
            && let Some(what) = self.protects(path)
            && !is_out("protected-names")
        {
            return Decision::Deny(Ground::ours(Why::Protected { what }));
        }
        let call = Call { tool, kind, names, target };
        let mut so_far = Decision::Allow;
        for layer in &self.layers {
            so_far = layer.after(so_far, &call, resource);
            if so_far.is_denied() {
                break;
            }
        }
        so_far
    }

    /// Decides a command line by everything that it could execute and write from its directory.
    fn decide_line(&self, tool: &str, line: &str, directory: &Path) -> Decision {
        let tool = tool::canonical(tool);
        if directory.components().any(|component| component == Component::ParentDir) {
            return unclear(format!("`{}` is not resolved: it has `..`", shown(directory)));
        }
        let directory = self.places.absolute(directory);
        let analysis = analyse_in(line, directory.as_deref());
        for target in analysis.writes.iter().chain(&analysis.changes) {
            if let shell_reader::Target::Path(path) = target
                && let Some(what) = self.protects(path)
            {
                return Decision::Deny(Ground::ours(Why::Protected { what }));
            }
        }
        let call = (tool, tool::kind(tool), Called::new(tool));
        let line = match Line::new(call, &analysis, &self.places) {
            Ok(line) => line,
            Err(what) => return unclear(what),
        };
        let mut so_far = Decision::Allow;
        for layer in &self.layers {
            so_far = layer.after_line(so_far, &line);
            if so_far.is_denied() {
                break;
            }
        }
        so_far
    }

    /// Whether any call of the tool could be other than denied. Only such a tool is worth offering; one that looks after
    /// commands only where there can be any.
    pub fn admits_some(&self, tool: &str) -> bool {
        let tool = tool::canonical(tool);
        if tool::LOOKING_AFTER_COMMANDS.contains(&tool) && !self.admits_some("Bash") {
            return false;
        }
        let (kind, names) = (tool::kind(tool), Called::new(tool));
        let mut so_far = Least::Allow;
        for layer in &self.layers {
            so_far = layer.least_after(so_far, tool, kind, names);
        }
        so_far != Least::Deny
    }

    /// The same of all tools whose names begin so: whether a server is of any use whose tools are not known yet.
    pub fn admits_some_of(&self, prefix: &str) -> bool {
        // The prefix itself stands for a tool that no rule names.
        let named = self.layers.iter().flat_map(Layer::names).filter(|name| name.starts_with(prefix));
        named.chain([prefix]).any(|tool| self.admits_some(tool))
    }

    /// Whether a rule could refuse one file and not another to a reading tool. Where it is false, a walk need not ask
    /// about each of its files.
    pub fn guards_reads(&self) -> bool {
        self.layers.iter().any(Layer::guards_reads)
    }

    /// What the grant leaves to programs that read no rules: to what a command starts.
    pub fn confinement(&self) -> Confinement<'_> {
        Confinement::new(&self.layers, &self.places)
    }

    /// What a path is that no agent may change.
    fn protects(&self, path: &Path) -> Option<String> {
        let root = self.places.root.as_deref();
        // What lies above the workspace is not its own.
        let within = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        if let Some(protected) = protected::protected(within) {
            return Some(protected.to_string());
        }
        let absolute = self.places.absolute(path).unwrap_or_else(|| path.to_owned());
        let within = |own: &PathBuf| protected::is_within(&absolute, own);
        self.places
            .own
            .iter()
            .find(|own| within(own))
            .map(|own| format!("Sortie's own settings and state (`{}`)", shown(own)))
    }
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// The decision about what is not in a form that can be decided on.
fn unclear(what: String) -> Decision {
    Decision::Deny(Ground::ours(Why::Unclear { what }))
}

impl Ground {
    /// A ground that lies in no layer.
    fn ours(why: Why) -> Self {
        Self { owner: "Sortie".to_owned(), rule: None, remedies: Vec::new(), why }
    }
}

/// What a list without rules leaves open of a line, handed on while it is there; `None` where rules cannot cover it.
pub(crate) fn gaps_of_line<T>(
    tool: &str,
    (line, directory): (&str, &Path),
    places: &Places,
    seen: impl FnOnce(&[Gap<'_>]) -> T,
) -> Option<T> {
    let tool = tool::canonical(tool);
    let analysis = analyse_in(line, places.absolute(directory).as_deref());
    let line = Line::new((tool, tool::kind(tool), Called::new(tool)), &analysis, places).ok()?;
    let no_rules = Rules::new(&[], Role::Allow, None).ok()?;
    if let Open::Gaps(gaps) = line.left_open(&no_rules, false) { Some(seen(&gaps)) } else { None }
}

/// The tools of which some call could be other than denied, in the given order; none under a grant that cannot be read.
pub fn offerable(grant: &Grant, tools: &[String]) -> Vec<String> {
    // Which paths a rule is about has no bearing on it, so any home directory will do.
    let places = Places { home: Some(PathBuf::from("/")), ..Places::default() };
    let Ok(judge) = Judge::new(grant, places) else { return Vec::new() };
    tools.iter().filter(|tool| judge.admits_some(tool)).cloned().collect()
}
