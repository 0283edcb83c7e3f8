//! Hosts: where each keeps its servers, and how its entry for Sortie looks.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::merged::Merged;
use super::{below, jsonc, toml_file, yaml_file};
use crate::environment::Environment;
use crate::error::CommandError;
use crate::settings::route_variables;

/// Name of the entry.
pub(super) const NAME: &str = "sortie";
/// Time that a host is to wait for a report.
const TIMEOUT_SECONDS: u64 = 600;
/// Variables besides the keys, which are passed on if they are set: where Sortie keeps its things, and the way out.
const SURROUNDINGS: [&str; 9] = [
    "SORTIE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Host {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// gemini-cli
    Gemini,
    /// opencode
    Opencode,
    /// Zed
    Zed,
    /// Visual Studio Code
    Vscode,
    /// Cursor
    Cursor,
    /// Goose
    Goose,
}

/// The server as every host has to start it.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    /// Variables that it needs, for a host that passes only those that are named.
    pub(super) variables: Vec<&'static str>,
}

/// Variables that reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaches {
    Everything,
    Named,
    /// Nobody has tried it.
    Untried,
}

/// Variables that make Sortie's models, and those of its surroundings that are set.
pub(super) fn variables(environment: &Environment) -> Vec<&'static str> {
    let around = SURROUNDINGS.into_iter().filter(|name| environment.is_set(name));
    route_variables().into_iter().chain(around).collect()
}

impl Host {
    /// Name on the command line.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "gemini-cli",
            Self::Opencode => "opencode",
            Self::Zed => "Zed",
            Self::Vscode => "VS Code",
            Self::Cursor => "Cursor",
            Self::Goose => "Goose",
        }
    }

    pub(super) fn reaches(self) -> Reaches {
        match self {
            Self::Claude | Self::Gemini | Self::Opencode => Reaches::Everything,
            Self::Codex => Reaches::Named,
            Self::Zed | Self::Vscode | Self::Cursor | Self::Goose => Reaches::Untried,
        }
    }

    /// Notes about approvals in the host.
    pub(super) fn advice(self) -> &'static [&'static str] {
        match self {
            Self::Claude => {
                &["Claude Code asks before it uses a tool; `claude --allowedTools mcp__sortie`, or \"mcp__sortie\" in \
                 `permissions.allow` of its settings, allows Sortie's"]
            }
            Self::Codex => &["Codex does not ask before it calls Sortie; Sortie's own rules decide what a task may do"],
            Self::Gemini => {
                &["gemini-cli does not ask before it calls Sortie; Sortie's own rules decide what a task may do"]
            }
            Self::Opencode | Self::Zed | Self::Vscode | Self::Cursor | Self::Goose => &[],
        }
    }

    /// The file of the user, or of a project.
    pub(super) fn file(self, environment: &Environment, project: Option<&Path>) -> Result<PathBuf, CommandError> {
        if let Some(project) = project {
            let file = match self {
                Self::Claude => ".mcp.json",
                Self::Codex => ".codex/config.toml",
                Self::Gemini => ".gemini/settings.json",
                Self::Opencode => return Ok(first_of(project, ["opencode.json", "opencode.jsonc"])),
                Self::Zed => ".zed/settings.json",
                Self::Vscode => ".vscode/mcp.json",
                Self::Cursor => ".cursor/mcp.json",
                Self::Goose => {
                    return Err(CommandError::usage("Goose has no file for one project").hint("leave out --project"));
                }
            };
            return Ok(project.join(file));
        }
        let configuration = |file| below(environment, "XDG_CONFIG_HOME", ".config", file);
        match self {
            Self::Claude => below(environment, "CLAUDE_CONFIG_DIR", "", ".claude.json"),
            Self::Codex => below(environment, "CODEX_HOME", ".codex", "config.toml"),
            Self::Gemini => below(environment, "GEMINI_CLI_HOME", "", ".gemini/settings.json"),
            Self::Opencode => {
                let directory = configuration("opencode")?;
                Ok(first_of(&directory, ["opencode.json", "opencode.jsonc"]))
            }
            Self::Zed => configuration("zed/settings.json"),
            Self::Vscode => configuration("Code/User/mcp.json"),
            Self::Cursor => below(environment, "HOME", "", ".cursor/mcp.json"),
            Self::Goose => configuration("goose/config.yaml"),
        }
    }

    /// The lines that a person adds, or the command that adds them.
    pub(super) fn lines(self, server: &Server, project: Option<&Path>) -> String {
        match self {
            Self::Claude => {
                let scope = if project.is_some() { "project" } else { "user" };
                let words = [std::slice::from_ref(&server.program), &server.arguments].concat();
                let words: Vec<String> = words.iter().map(|word| in_shell(word)).collect();
                format!("claude mcp add --scope {scope} {NAME} -- {}\n", words.join(" "))
            }
            Self::Codex => toml_file::lines(&self.entry(server)),
            Self::Goose => yaml_file::lines(&self.entry(server)),
            _ => {
                let lines = json!({ self.section(): { NAME: self.entry(server) } });
                format!("{lines:#}\n")
            }
        }
    }

    /// The host's file with the entry in it.
    pub(super) fn merged(self, text: &str, server: &Server) -> Merged {
        let entry = self.entry(server);
        match self {
            Self::Codex => toml_file::merged(text, &entry),
            Self::Goose => yaml_file::merged(text, &entry),
            _ => jsonc::merged(text, self.section(), &entry),
        }
    }

    /// The key of all servers in the host's file.
    fn section(self) -> &'static str {
        match self {
            Self::Claude | Self::Gemini | Self::Cursor => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::Opencode => "mcp",
            Self::Zed => "context_servers",
            Self::Vscode => "servers",
            Self::Goose => "extensions",
        }
    }

    fn entry(self, Server { program, arguments, variables }: &Server) -> Value {
        match self {
            Self::Claude | Self::Vscode => json!({ "type": "stdio", "command": program, "args": arguments }),
            Self::Codex => json!({
                "command": program,
                "args": arguments,
                "env_vars": variables,
                "tool_timeout_sec": TIMEOUT_SECONDS,
                "default_tools_approval_mode": "approve",
                "supports_parallel_tool_calls": true,
            }),
            Self::Gemini => json!({
                "command": program,
                "args": arguments,
                "timeout": TIMEOUT_SECONDS * 1000,
                "trust": true,
            }),
            Self::Opencode => {
                let command: Vec<&String> = [program].into_iter().chain(arguments).collect();
                json!({ "type": "local", "command": command, "enabled": true, "timeout": TIMEOUT_SECONDS * 1000 })
            }
            Self::Zed => json!({ "command": program, "args": arguments, "env": Map::new() }),
            Self::Cursor => json!({ "command": program, "args": arguments }),
            Self::Goose => json!({
                "name": NAME,
                "type": "stdio",
                "enabled": true,
                "cmd": program,
                "args": arguments,
                "timeout": TIMEOUT_SECONDS,
            }),
        }
    }
}

/// The first that exists, or else the first.
fn first_of(directory: &Path, names: [&str; 2]) -> PathBuf {
    let [first, second] = names.map(|name| directory.join(name));
    if !first.exists() && second.exists() { second } else { first }
}

/// A word as a shell reads it.
fn in_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
