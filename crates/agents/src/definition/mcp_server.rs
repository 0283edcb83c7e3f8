//! MCP servers as written in settings, in a project's `.mcp.json` and in agent files: one format, one reader.
//!
//! Only reads what is written. Nothing is started or looked up here, and `${VARIABLE}` is kept as it is.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde_json::Value;
use sortie_policy::without_credentials;
use sortie_protocol::nearest;

/// Prefix of every MCP tool's name.
const MCP: &str = "mcp__";

/// Leaves room for the tool's name after it.
const MAX_NAME_BYTES: usize = 40;
const MAX_WORDS: usize = 200;
const MAX_TEXT_BYTES: usize = 32 << 10;

const OF_PROGRAMS: [&str; 3] = ["command", "args", "env"];
const OF_ADDRESSES: [&str; 2] = ["url", "headers"];
/// Keys of both kinds. Other programs write either `enabled` or `disabled`.
const OF_BOTH: [&str; 5] = ["type", "enabled", "disabled", "start_timeout_seconds", "call_timeout_seconds"];

const START_SECONDS: u64 = 10;
const MOST_START_SECONDS: u64 = 600;
const CALL_SECONDS: u64 = 60;
const MOST_CALL_SECONDS: u64 = 86_400;

/// A server, and how to reach it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerDefinition {
    pub name: String,
    pub access: ServerAccess,
    /// Time limit for the server to become ready.
    pub start_within: Duration,
    /// Time limit for a call without an answer or a sign of progress.
    pub call_within: Duration,
    /// True if it is configured but switched off.
    pub is_off: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ServerAccess {
    /// A program to start and to talk to over its standard input and output.
    Program { command: String, arguments: Vec<String>, environment: BTreeMap<String, String> },
    /// Streamable HTTP.
    Address { url: String, headers: BTreeMap<String, String> },
}

/// A server that an agent's definition asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerUse {
    /// A server from the settings.
    Named(String),
    /// The agent's own server.
    Own(ServerDefinition),
}

impl ServerUse {
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Own(server) => &server.name,
        }
    }
}

/// A definition, and the keys that have no meaning here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReading {
    pub server: ServerDefinition,
    /// A message for each such key.
    pub ignored: Vec<String>,
}

impl ServerDefinition {
    /// Reads one definition; the error describes its fault.
    pub fn read(name: &str, value: &Value) -> Result<ServerReading, String> {
        check_name(name)?;
        let Some(fields) = value.as_object() else {
            return Err("it must be a table with `command` or `url`".to_owned());
        };
        let transport = match fields.get("type") {
            None => None,
            Some(Value::String(transport)) => Some(transport.as_str()),
            Some(_) => return Err("`type` must be stdio or http".to_owned()),
        };
        let access = match (fields.get("command"), fields.get("url"), transport) {
            (Some(_), Some(_), _) => return Err("it has both `command` and `url`; keep one".to_owned()),
            (None, None, _) => return Err("it has neither `command` nor `url`".to_owned()),
            (_, _, Some("sse")) => {
                return Err(
                    "the transport `sse` belongs to an old protocol that is not supported; use `http`".to_owned()
                );
            }
            (Some(command), None, None | Some("stdio")) => ServerAccess::Program {
                command: text("command", command)?,
                arguments: fields.get("args").map_or(Ok(Vec::new()), words)?,
                environment: fields.get("env").map_or(Ok(BTreeMap::new()), |env| texts("env", env))?,
            },
            (None, Some(url), None | Some("http" | "streamable-http" | "streamable_http")) => ServerAccess::Address {
                url: address(url)?,
                headers: fields.get("headers").map_or(Ok(BTreeMap::new()), |headers| texts("headers", headers))?,
            },
            (_, _, Some(other)) => return Err(format!("`type` {other:?} is unknown; use stdio or http")),
        };
        let seconds = |key, usual, most| match fields.get(key) {
            None => Ok(Duration::from_secs(usual)),
            Some(said) => said
                .as_u64()
                .filter(|seconds| (1..=most).contains(seconds))
                .map(Duration::from_secs)
                .ok_or_else(|| format!("`{key}` must be a whole number from 1 to {most}")),
        };
        let (start_within, call_within) = (
            seconds("start_timeout_seconds", START_SECONDS, MOST_START_SECONDS)?,
            seconds("call_timeout_seconds", CALL_SECONDS, MOST_CALL_SECONDS)?,
        );
        let switch = |key, usual| match fields.get(key) {
            None => Ok(usual),
            Some(said) => said.as_bool().ok_or_else(|| format!("`{key}` must be true or false")),
        };
        let is_off = switch("disabled", false)? || !switch("enabled", true)?;
        let own: Vec<&str> = access.keys().iter().chain(&OF_BOTH).copied().collect();
        let ignored = fields.keys().filter(|key| !own.contains(&key.as_str())).map(|key| without_meaning(key, &own));
        let server = Self { name: name.to_owned(), access, start_within, call_within, is_off };
        Ok(ServerReading { ignored: ignored.collect(), server })
    }

    /// Prefix of its tools' names.
    pub fn prefix(&self) -> String {
        prefix(&self.name)
    }

    /// The program it starts or the address it calls.
    pub fn in_words(&self) -> String {
        let off = if self.is_off { "is switched off; it " } else { "" };
        match &self.access {
            ServerAccess::Program { command, arguments, .. } => {
                let words: Vec<&str> = [command].into_iter().chain(arguments).map(String::as_str).collect();
                format!("{off}runs `{}`", words.join(" "))
            }
            ServerAccess::Address { url, .. } => format!("{off}calls {}", without_credentials(url)),
        }
    }
}

/// Prefix of the names of a server's tools.
pub fn prefix(server: &str) -> String {
    format!("{MCP}{server}__")
}

impl ServerAccess {
    /// The keys of this kind only.
    fn keys(&self) -> &'static [&'static str] {
        match self {
            Self::Program { .. } => &OF_PROGRAMS,
            Self::Address { .. } => &OF_ADDRESSES,
        }
    }
}

/// As a settings file would write it. Values that may be secrets stay hidden.
impl fmt::Display for ServerDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |names: &BTreeMap<String, String>| {
            names.keys().map(|name| format!("{name} = \"********\"")).collect::<Vec<_>>().join(", ")
        };
        match &self.access {
            ServerAccess::Program { command, arguments, environment } => {
                write!(f, "{{ command = {command:?}, args = {arguments:?}")?;
                if !environment.is_empty() {
                    write!(f, ", env = {{ {} }}", hidden(environment))?;
                }
            }
            ServerAccess::Address { url, headers } => {
                write!(f, "{{ url = {:?}", without_credentials(url))?;
                if !headers.is_empty() {
                    write!(f, ", headers = {{ {} }}", hidden(headers))?;
                }
            }
        }
        f.write_str(if self.is_off { ", enabled = false }" } else { " }" })
    }
}

/// Requires a name that fits into a tool's name, so that a rule about it cannot match another server.
fn check_name(name: &str) -> Result<(), String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let fits = !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(plain);
    if fits && !name.contains("__") && !name.starts_with('_') && !name.ends_with('_') {
        return Ok(());
    }
    Err(format!(
        "a server's name has up to {MAX_NAME_BYTES} letters, digits, `-` and single `_`, and neither begins nor ends with `_`"
    ))
}

fn text(key: &str, value: &Value) -> Result<String, String> {
    let fits = |text: &&str| !text.trim().is_empty() && text.len() <= MAX_TEXT_BYTES && !text.contains('\0');
    value.as_str().filter(fits).map(str::to_owned).ok_or_else(|| format!("`{key}` must be a non-empty text"))
}

fn words(value: &Value) -> Result<Vec<String>, String> {
    let fits = |word: &&str| word.len() <= MAX_TEXT_BYTES && !word.contains('\0');
    let items = value.as_array().filter(|items| items.len() <= MAX_WORDS);
    let words =
        items.and_then(|items| items.iter().map(|item| item.as_str().filter(fits).map(str::to_owned)).collect());
    words.ok_or_else(|| format!("`args` must be a list of at most {MAX_WORDS} texts"))
}

/// A map of texts. Numbers and booleans are accepted as texts.
fn texts(key: &str, value: &Value) -> Result<BTreeMap<String, String>, String> {
    let fault = || format!("`{key}` must be at most {MAX_WORDS} names, each with a text");
    let fields = value.as_object().filter(|fields| fields.len() <= MAX_WORDS).ok_or_else(fault)?;
    let text = |(name, value): (&String, &Value)| {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(on) => on.to_string(),
            _ => return None,
        };
        let fits =
            !name.is_empty() && !name.contains(['=', '\0']) && !text.contains('\0') && text.len() <= MAX_TEXT_BYTES;
        fits.then(|| (name.clone(), text))
    };
    fields.iter().map(text).collect::<Option<_>>().ok_or_else(fault)
}

/// A variable may stand for its beginning; the result is checked when it is used.
fn address(value: &Value) -> Result<String, String> {
    let url = text("url", value)?;
    let begins = ["http://", "https://", "${"].iter().any(|start| url.starts_with(start));
    if begins { Ok(url) } else { Err("`url` must begin with http:// or https://".to_owned()) }
}

fn without_meaning(key: &str, own: &[&str]) -> String {
    if OF_PROGRAMS.contains(&key) || OF_ADDRESSES.contains(&key) {
        return format!("`{key}` has no meaning here");
    }
    match nearest(key, own.iter().copied()) {
        Some(near) => format!("there is no `{key}`; did you mean `{near}`?"),
        None => format!("there is no `{key}`; it has {}", own.join(", ")),
    }
}
