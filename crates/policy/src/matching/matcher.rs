//! One rule in its role, prepared for comparison with calls.
//!
//! A rule that permits matches exactly. A rule that forbids matches in every letter case and Unicode form, and covers a
//! little more. A forbidding rule about reading also covers edits, whose errors and diffs show content.

use std::path::Path;

use sortie_shell_reader::Part;

use super::target::{Form, Target};
use super::{Call, CalledTool, Role};
use crate::rule::{
    Base, CommandPattern, CompiledPath, Glob, HostPattern, Literal, Rule, RuleError, RuleFault, Scope, ToolKind,
    ToolName, ToolSet, canonical_in_any_case,
};
use crate::text::{Bigrams, printable};

/// A rule in its role.
#[derive(Debug)]
pub(crate) struct Matcher {
    pub(crate) text: String,
    tools: Tools,
    scope: Compiled,
    role: Role,
}

#[derive(Debug)]
enum Tools {
    Known(ToolSet),
    Exact(String),
    Prefix(String),
}

#[derive(Debug)]
enum Compiled {
    Everything,
    Nothing,
    Path(CompiledPath),
    Command(CommandPattern),
    Host(HostPattern),
    Agent(Glob),
}

impl Matcher {
    pub(crate) fn new(text: &str, role: Role, home: Option<&Path>) -> Result<Self, RuleError> {
        let rule: Rule = text.parse()?;
        let tools = tools(&rule, role);
        let scope = match rule.scope {
            Scope::Whole | Scope::Everything => Compiled::Everything,
            Scope::Opaque if role.forbids() => Compiled::Everything,
            Scope::Opaque => Compiled::Nothing,
            Scope::Command(pattern) if role.forbids() => Compiled::Command(pattern.folded()),
            Scope::Command(pattern) => Compiled::Command(pattern),
            Scope::Host(pattern) => Compiled::Host(pattern),
            Scope::Agent(pattern) => Compiled::Agent(pattern),
            Scope::Path(pattern) => {
                let no_home = || RuleError { rule: printable(text), owner: None, fault: RuleFault::NoHome };
                Compiled::Path(pattern.compile(home, role.spelling()).ok_or_else(no_home)?)
            }
        };
        Ok(Self { text: text.trim().to_owned(), tools, scope, role })
    }

    /// The tool name or name prefix it is about; `None` if its tools are known ones.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.tools {
            Tools::Known(_) => None,
            Tools::Exact(name) | Tools::Prefix(name) => Some(name),
        }
    }

    pub(crate) fn matches(&self, call: &Call<'_>) -> bool {
        self.is_about(call.tool) && self.covers(&call.target)
    }

    /// True if it covers some call of this tool.
    pub(crate) fn is_about(&self, tool: CalledTool<'_>) -> bool {
        match &self.tools {
            Tools::Known(set) if self.role.forbids() => set.meets(tool.roughly),
            Tools::Known(set) => set.meets(tool.exactly),
            Tools::Exact(name) if self.role.forbids() => name.eq_ignore_ascii_case(tool.name),
            Tools::Exact(name) => name == tool.name,
            Tools::Prefix(prefix) if self.role.forbids() => {
                tool.name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            }
            Tools::Prefix(prefix) => tool.name.starts_with(prefix.as_str()),
        }
    }

    /// True if it covers every call of this tool.
    pub(crate) fn is_about_all(&self, tool: CalledTool<'_>) -> bool {
        matches!(self.scope, Compiled::Everything) && self.is_about(tool)
    }

    /// True if it distinguishes files.
    pub(crate) fn looks_at_paths(&self) -> bool {
        matches!(self.scope, Compiled::Path(_))
    }

    /// The literal path that it covers with all of its contents; `None` for any other pattern.
    pub(crate) fn literal(&self) -> Option<Literal<'_>> {
        if let Compiled::Path(pattern) = &self.scope { pattern.literal() } else { None }
    }

    /// The literal path that it covers, if written as a directory: with `/**` at its end.
    pub(crate) fn literal_directory(&self) -> Option<Literal<'_>> {
        if let Compiled::Path(pattern) = &self.scope { pattern.literal_directory() } else { None }
    }

    pub(crate) fn covers(&self, target: &Target<'_>) -> bool {
        let forbids = self.role.forbids();
        match (&self.scope, &target.form) {
            (Compiled::Everything, _) => true,
            (Compiled::Path(pattern), Form::Path(path)) => path
                .names(pattern.base, self.role)
                .is_some_and(|names| pattern.covers(names.spelled(self.role.spelling()))),
            (Compiled::Command(pattern), Form::Part(part)) if forbids => pattern.could_be(part),
            (Compiled::Command(pattern), Form::Part(part)) => pattern.permits(part),
            // The file is known only when the line runs.
            (Compiled::Path(_), Form::AnyPath) => forbids,
            // Paths that are only closed to reading are kept by the walls around commands.
            (Compiled::Path(_), Form::SomePath) => forbids && !self.is_about(CalledTool::any_of(ToolKind::Reading)),
            (Compiled::Host(pattern), Form::Host(host)) => pattern.covers(host),
            (Compiled::Agent(pattern), Form::Agent(names)) => names.iter().any(|name| pattern.matches(name)),
            _ => false,
        }
    }

    /// True if it covers a command that another one runs: it names the runner in full, or at least up to this command.
    pub(crate) fn speaks_for(&self, runner: &Part, part: &Part) -> bool {
        matches!(&self.scope, Compiled::Command(pattern)
            if pattern.names_all_of(runner) || pattern.reaches(runner, part))
    }

    /// True if its words are, or could be, those of a command, whatever else that may execute.
    pub(crate) fn could_name(&self, part: &Part) -> bool {
        !matches!(&self.scope, Compiled::Command(pattern) if !pattern.could_name(part))
    }

    /// Bigrams that occur in everything it covers.
    pub(crate) fn bigrams(&self) -> Bigrams {
        let mut bigrams = Bigrams::default();
        match &self.scope {
            Compiled::Everything | Compiled::Nothing => {}
            Compiled::Path(pattern) => bigrams = pattern.bigrams(),
            Compiled::Command(pattern) => bigrams = pattern.bigrams(),
            Compiled::Host(pattern) => bigrams = pattern.bigrams(),
            Compiled::Agent(pattern) => pattern.add_bigrams(&mut bigrams),
        }
        bigrams
    }

    /// True if it compares paths from the root of the file system.
    pub(crate) fn is_absolute(&self) -> bool {
        matches!(&self.scope, Compiled::Path(pattern) if pattern.base == Base::FileSystem)
    }
}

/// Returns the tools that a rule is about in this role.
fn tools(rule: &Rule, role: Role) -> Tools {
    let name = match &rule.name {
        ToolName::Prefix(prefix) => return Tools::Prefix(prefix.clone()),
        ToolName::Exact(name) if role.forbids() => canonical_in_any_case(name),
        ToolName::Exact(name) => name,
    };
    let itself = ToolSet::of(name);
    if itself == ToolSet::default() {
        return Tools::Exact(name.to_owned());
    }
    let (reading, editing) = (ToolSet::of_kind(ToolKind::Reading), ToolSet::of_kind(ToolKind::Editing));
    let alone = role == Role::Admit && rule.scope == Scope::Whole;
    Tools::Known(match name {
        _ if alone => itself,
        "Read" if role.forbids() => reading.with(editing),
        "Read" => reading,
        "Edit" => editing,
        // A message puts an agent to work just as a task does.
        "Task" if role.forbids() => itself.with(ToolSet::of("SendMessage")),
        // Without commands there are no background commands to manage.
        "Bash" if role == Role::Deny => itself.with(ToolSet::of("BashOutput")).with(ToolSet::of("KillShell")),
        _ => itself,
    })
}
