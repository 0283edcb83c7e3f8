//! Rules as people write them, `Tool` or `Tool(pattern)`, and the tools and places they refer to.
//!
//! Parsing is strict: a rule that would silently match nothing is an error. [`Rule::unknown_tool`] reports a tool that
//! does not exist.

mod command_pattern;
mod glob;
mod host_pattern;
mod known_tools;
mod path_pattern;
mod places;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

pub(crate) use self::command_pattern::{CommandPattern, bigrams_of_command};
pub(crate) use self::glob::Glob;
pub(crate) use self::host_pattern::{HostPattern, normal_host};
use self::known_tools::MCP;
pub use self::known_tools::UnknownTool;
pub(crate) use self::known_tools::{LOOKING_AFTER_COMMANDS, ToolKind, ToolSet, canonical, canonical_in_any_case, kind};
pub(crate) use self::path_pattern::{Base, CompiledPath, Literal, PathPattern};
pub use self::places::Places;
use crate::text::{fold, printable};

/// Longer rules are refused: nobody writes them by hand.
const MAX_BYTES: usize = 8192;

/// One rule, with its text as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    text: String,
    pub(crate) name: ToolName,
    pub(crate) scope: Scope,
}

/// The tools that a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolName {
    Exact(String),
    /// All tools with this name prefix: those of an MCP server.
    Prefix(String),
}

/// The calls of its tools that a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All calls, by the bare name.
    Whole,
    /// All calls, by a pattern that matches everything.
    Everything,
    Path(PathPattern),
    Command(CommandPattern),
    Host(HostPattern),
    Agent(Glob),
    /// A pattern for an unknown tool: it forbids all calls and permits none.
    Opaque,
}

impl Rule {
    /// The tool it names, by its usual name. For all tools of a server, their common prefix.
    pub fn tool(&self) -> &str {
        let (ToolName::Exact(name) | ToolName::Prefix(name)) = &self.name;
        canonical_in_any_case(name)
    }

    /// Returns true if it is about an agent with one of these names, or `None` if it is about no particular agent.
    pub fn is_about_agent<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Option<bool> {
        let Scope::Agent(pattern) = &self.scope else { return None };
        Some(names.into_iter().any(|name| pattern.matches(&fold(name))))
    }

    /// Returns the tool if it is not known. Such a rule still applies, should the tool exist.
    pub fn unknown_tool(&self) -> Option<UnknownTool> {
        match &self.name {
            ToolName::Exact(name) => UnknownTool::check(name),
            ToolName::Prefix(prefix) if prefix.starts_with(MCP) => None,
            ToolName::Prefix(prefix) => Some(UnknownTool { name: prefix.clone(), nearest: None }),
        }
    }

    /// Returns the tool of an ask or deny rule if it is not known. There a name counts in any letter case.
    pub fn unknown_tool_in_any_case(&self) -> Option<UnknownTool> {
        match &self.name {
            ToolName::Exact(name) => UnknownTool::check(canonical_in_any_case(name)),
            ToolName::Prefix(_) => self.unknown_tool(),
        }
    }

    fn read(text: &str) -> Result<Self, RuleFault> {
        if text.is_empty() {
            return Err(RuleFault::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(RuleFault::TooLong);
        }
        if text.chars().any(|character| character.is_control() || character == char::REPLACEMENT_CHARACTER) {
            return Err(RuleFault::ControlCharacter);
        }
        let (name, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => (name, Some(rest.strip_suffix(')').ok_or(RuleFault::Unclosed)?)),
        };
        check_name(name)?;
        let kind = kind(canonical_in_any_case(name.trim_end_matches('*')));
        let scope = pattern.map_or(Ok(Scope::Whole), |pattern| scope(kind, name, pattern))?;
        Ok(Self { text: text.to_owned(), name: ToolName::of(name)?, scope })
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let text = text.trim();
        Self::read(text).map_err(|fault| RuleError { rule: printable(text), owner: None, fault })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl ToolName {
    fn of(name: &str) -> Result<Self, RuleFault> {
        let of_server = name.get(..MCP.len()).is_some_and(|start| start.eq_ignore_ascii_case(MCP));
        let Some(mcp) = name.get(MCP.len()..).filter(|_| of_server) else {
            return if name.contains('*') {
                Err(RuleFault::Wildcard)
            } else {
                Ok(Self::Exact(canonical(name).to_owned()))
            };
        };
        match mcp.split_once('*') {
            Some((before, "")) => Ok(Self::Prefix(format!("{}{before}", &name[..MCP.len()]))),
            Some(_) => Err(RuleFault::Wildcard),
            None if mcp.is_empty() => Err(RuleFault::Name),
            None if mcp.contains("__") => Ok(Self::Exact(name.to_owned())),
            None => Ok(Self::Prefix(format!("{name}__"))),
        }
    }
}

/// Refuses all but plain letters, so that a lookalike never passes for a tool.
fn check_name(name: &str) -> Result<(), RuleFault> {
    if let Some(character) = name.chars().find(|character| !character.is_ascii()) {
        return Err(RuleFault::Lookalike { character });
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-*".contains(&byte);
    if name.is_empty() || !name.bytes().all(plain) { Err(RuleFault::Name) } else { Ok(()) }
}

fn scope(kind: ToolKind, name: &str, pattern: &str) -> Result<Scope, RuleFault> {
    if pattern.is_empty() {
        return Err(RuleFault::NoPattern);
    }
    if pattern.trim() != pattern {
        return Err(RuleFault::BlankEdge);
    }
    let wrong = |reason| RuleFault::Pattern { reason };
    Ok(match kind {
        ToolKind::Mcp | ToolKind::Companion | ToolKind::Notes => {
            return Err(RuleFault::TakesNoPattern { tool: name.to_owned() });
        }
        ToolKind::Unknown => Scope::Opaque,
        _ if pattern == "*" => Scope::Everything,
        ToolKind::Reading | ToolKind::Editing => {
            let path = PathPattern::parse(pattern).map_err(wrong)?;
            if path.is_everything() { Scope::Everything } else { Scope::Path(path) }
        }
        ToolKind::Shell if pattern == ":*" => Scope::Everything,
        ToolKind::Shell => Scope::Command(CommandPattern::parse(pattern).map_err(wrong)?),
        ToolKind::Web if pattern == "domain:*" => Scope::Everything,
        ToolKind::Web => Scope::Host(HostPattern::parse(pattern).map_err(wrong)?),
        // Agent names are not case-sensitive.
        ToolKind::Delegating => Scope::Agent(Glob::parse(pattern).map_err(wrong)?.folded()),
    })
}

/// A text that is not a valid rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The text, without characters that would upset a terminal.
    pub rule: String,
    /// Owner of the layer, if the rule came from a grant.
    pub owner: Option<String>,
    pub fault: RuleFault,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a rule: {}", self.rule, self.fault)?;
        self.owner.as_ref().map_or(Ok(()), |owner| write!(f, " (in {owner})"))
    }
}

impl std::error::Error for RuleError {}

/// The fault of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RuleFault {
    #[error("it is empty; write `Tool` or `Tool(pattern)`")]
    Empty,
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
    #[error("it has a control character")]
    ControlCharacter,
    #[error("its last character should be the `)` that closes the pattern")]
    Unclosed,
    #[error("it should begin with a tool's name; write `Tool` or `Tool(pattern)`")]
    Name,
    #[error("`{character}` is not allowed in a tool's name, even if it looks like a plain letter")]
    Lookalike { character: char },
    #[error("`*` in a tool's name is supported only for MCP tools, at the end: `mcp__server__*`")]
    Wildcard,
    #[error("its pattern is empty; leave out the parentheses to mean every call")]
    NoPattern,
    #[error("its pattern begins or ends with a blank")]
    BlankEdge,
    #[error("{tool} takes no pattern")]
    TakesNoPattern { tool: String },
    #[error("{reason}")]
    Pattern { reason: &'static str },
    #[error("`~/` is not known here: there is no home directory")]
    NoHome,
}
