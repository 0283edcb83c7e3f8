//! The target of a call, split once for all the rules that are compared with it.

use std::borrow::Cow;
use std::path::{Component, Path};

use sortie_protocol::Resource;
use sortie_shell_reader::Part;

use super::Role;
use crate::rule::{Base, Places, bigrams_of_command, normal_host};
use crate::text::{Bigrams, Spelling, fold, printable, printable_path};

/// A resource in the forms that patterns are compared with.
pub(crate) struct Target<'a> {
    pub(super) form: Form<'a>,
    bigrams: [Bigrams; 2],
}

pub(super) enum Form<'a> {
    Nothing,
    Path(PathForm<'a>),
    /// A file that is not known yet.
    AnyPath,
    /// A file chosen by a program.
    SomePath,
    /// One of the commands of a line.
    Part(&'a Part),
    /// Host in canonical form.
    Host(String),
    /// All names of the agent, folded.
    Agent(Vec<Cow<'a, str>>),
}

impl<'a> Target<'a> {
    /// Splits a resource. An error says in words why it cannot be judged.
    pub(crate) fn new(resource: &'a Resource, places: &'a Places) -> Result<Self, String> {
        let form = match resource {
            Resource::Path(path) => Form::Path(PathForm::new(path, places)?),
            // A line is split first; no pattern matches it as a whole.
            Resource::Nothing | Resource::Command { .. } => Form::Nothing,
            Resource::Host(host) => {
                Form::Host(normal_host(host).ok_or_else(|| format!("`{}` is not a host", printable(host)))?)
            }
            Resource::Agent { name, aliases } => {
                Form::Agent([name].into_iter().chain(aliases).map(|name| fold(name)).collect())
            }
        };
        Ok(Self::of(form))
    }

    /// A target that no pattern matches.
    pub(crate) fn nothing() -> Self {
        Self::of(Form::Nothing)
    }

    pub(crate) fn path(path: &'a Path, places: &'a Places) -> Result<Self, String> {
        Ok(Self::of(Form::Path(PathForm::new(path, places)?)))
    }

    /// One command of a line.
    pub(crate) fn part(part: &'a Part) -> Self {
        Self::of(Form::Part(part))
    }

    /// A file that is not known yet.
    pub(crate) fn any_path() -> Self {
        Self::of(Form::AnyPath)
    }

    /// A file chosen by a program.
    pub(crate) fn some_path() -> Self {
        Self::of(Form::SomePath)
    }

    fn of(form: Form<'a>) -> Self {
        let mut bigrams = [Bigrams::default(); 2];
        match &form {
            Form::Nothing => {}
            Form::Path(path) => {
                bigrams[0] = path.own.bigrams();
                bigrams[1] = path.absolute.as_ref().map(Names::bigrams).unwrap_or_default();
            }
            Form::AnyPath | Form::SomePath => bigrams = [Bigrams::ALL; 2],
            Form::Part(part) => bigrams[0] = bigrams_of_command(part),
            Form::Host(host) => bigrams[0].add_name(host),
            Form::Agent(names) => names.iter().for_each(|name| bigrams[0].add_name(name)),
        }
        Self { form, bigrams }
    }

    /// True if it is an unknown file.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self.form, Form::AnyPath | Form::SomePath)
    }

    /// Returns the bigrams of the target, and of its path from the root of the file system.
    pub(super) fn bigrams(&self) -> [Bigrams; 2] {
        self.bigrams
    }
}

/// A path as components, from the workspace root and from the root of the file system.
pub(super) struct PathForm<'a> {
    /// Names from the start of the path: the workspace, or else the root of the file system.
    own: Names<'a>,
    is_in_workspace: bool,
    /// Names from the outermost added directory that contains it.
    beneath_added: Option<Names<'a>>,
    /// Names from the root of the file system, if known.
    absolute: Option<Names<'a>>,
}

/// The components of a path, exact and folded.
pub(super) struct Names<'a> {
    exact: Vec<Cow<'a, str>>,
    folded: Vec<Cow<'a, str>>,
}

impl<'a> PathForm<'a> {
    fn new(path: &'a Path, places: &'a Places) -> Result<Self, String> {
        let root = places.root.as_deref();
        let inside = if path.is_absolute() { root.and_then(|root| path.strip_prefix(root).ok()) } else { Some(path) };
        let absolute = match (path.is_absolute(), root) {
            (true, _) => Some(components(path)?),
            (false, Some(root)) => Some([components(root)?, components(path)?].concat()),
            (false, None) => None,
        };
        let added = places.added.iter().filter_map(|added| path.strip_prefix(added).ok());
        let beneath_added = added.max_by_key(|beneath| beneath.as_os_str().len()).filter(|_| inside.is_none());
        Ok(Self {
            own: Names::new(components(inside.unwrap_or(path))?),
            is_in_workspace: inside.is_some(),
            beneath_added: beneath_added.map(components).transpose()?.map(Names::new),
            absolute: absolute.map(Names::new),
        })
    }

    /// Returns the components to compare with a pattern of this base. For rules that permit, the names above an added
    /// directory do not count: the author did not mean those. For rules that forbid they do.
    pub(super) fn names(&self, base: Base, role: Role) -> Option<&Names<'a>> {
        match base {
            Base::Anywhere => Some(self.beneath_added.as_ref().filter(|_| !role.forbids()).unwrap_or(&self.own)),
            Base::Workspace => self.is_in_workspace.then_some(&self.own),
            Base::Home | Base::FileSystem => self.absolute.as_ref(),
        }
    }
}

impl<'a> Names<'a> {
    fn new(exact: Vec<Cow<'a, str>>) -> Self {
        let folded = exact.iter().map(folded).collect();
        Self { exact, folded }
    }

    pub(super) fn spelled(&self, spelling: Spelling) -> &[Cow<'a, str>] {
        match spelling {
            Spelling::Exact => &self.exact,
            Spelling::Folded => &self.folded,
        }
    }

    fn bigrams(&self) -> Bigrams {
        let mut bigrams = Bigrams::default();
        for (exact, folded) in self.exact.iter().zip(&self.folded) {
            bigrams.add_name(exact);
            if exact != folded {
                bigrams.add_name(folded);
            }
        }
        bigrams
    }
}

fn folded<'a>(name: &Cow<'a, str>) -> Cow<'a, str> {
    match name {
        Cow::Borrowed(name) => fold(name),
        Cow::Owned(name) => Cow::Owned(fold(name).into_owned()),
    }
}

fn components(path: &Path) -> Result<Vec<Cow<'_, str>>, String> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_string_lossy()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            Component::ParentDir => {
                return Err(format!("`{}` is not resolved: it has `..`", printable_path(path)));
            }
        }
    }
    Ok(names)
}
