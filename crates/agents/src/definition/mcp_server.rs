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

const OF_PROGRAMS: [&str; 4] = ["command", "args", "env", "cwd"];
const OF_ADDRESSES: [&str; 4] = ["url", "headers", "headersHelper", "oauth"];
/// Keys of both kinds. Other programs write either `enabled` or `disabled`, and `timeout`, in milliseconds, for a call.
const OF_BOTH: [&str; 6] = ["type", "enabled", "disabled", "start_timeout_seconds", "call_timeout_seconds", "timeout"];
/// Letters that mean something to a shell, which runs no helper here.
const OF_SHELLS: &str = "|&;<>()$`\\\"'*?[]#~!{}\n";

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
    Program {
        command: String,
        arguments: Vec<String>,
        environment: BTreeMap<String, String>,
        /// Its working directory, in the project unless absolute; `None` for the project itself.
        directory: Option<String>,
    },
    /// Streamable HTTP.
    Address {
        url: String,
        headers: BTreeMap<String, String>,
        /// Program that prints more headers, with its arguments; empty if there is none.
        helper: Vec<String>,
        oauth: OAuthSettings,
    },
    /// The transport `sse` of the revision 2024-11-05, which is not supported.
    OldAddress { url: String },
}

/// Settings of the user for signing in at a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct OAuthSettings {
    /// Name under which this program is registered; `None` if it registers itself.
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    /// Port of this machine for the answer; `None` for any.
    pub callback_port: Option<u16>,
    /// Scopes to ask for, instead of those that the server names.
    pub scopes: Vec<String>,
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
            (None, Some(url), Some("sse")) => ServerAccess::OldAddress { url: address(url)? },
            (Some(command), None, None | Some("stdio")) => ServerAccess::Program {
                command: text("command", command)?,
                arguments: fields.get("args").map_or(Ok(Vec::new()), |args| words("args", args))?,
                environment: fields.get("env").map_or(Ok(BTreeMap::new()), |env| texts("env", env))?,
                directory: fields.get("cwd").map(|cwd| text("cwd", cwd)).transpose()?,
            },
            (None, Some(url), None | Some("http" | "streamable-http" | "streamable_http")) => ServerAccess::Address {
                url: address(url)?,
                headers: fields.get("headers").map_or(Ok(BTreeMap::new()), |headers| texts("headers", headers))?,
                helper: fields.get("headersHelper").map_or(Ok(Vec::new()), helper)?,
                oauth: fields.get("oauth").map_or(Ok(OAuthSettings::default()), oauth)?,
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
            match fields.get("timeout").filter(|_| !fields.contains_key("call_timeout_seconds")) {
                Some(said) => milliseconds(said)?,
                None => seconds("call_timeout_seconds", CALL_SECONDS, MOST_CALL_SECONDS)?,
            },
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

    /// True if a program of it runs on this machine.
    pub fn runs_something(&self) -> bool {
        match &self.access {
            ServerAccess::Program { .. } => true,
            ServerAccess::Address { helper, .. } => !helper.is_empty(),
            ServerAccess::OldAddress { .. } => false,
        }
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
            ServerAccess::Address { url, helper, .. } if !helper.is_empty() => {
                let url = without_credentials(url);
                format!("{off}calls {url} with headers from `{}`", helper.join(" "))
            }
            ServerAccess::Address { url, .. } => format!("{off}calls {}", without_credentials(url)),
            ServerAccess::OldAddress { url } => {
                format!("{off}calls {} by `sse`, which is not supported", without_credentials(url))
            }
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
            Self::OldAddress { .. } => &OF_ADDRESSES[..2],
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
            ServerAccess::Program { command, arguments, environment, directory } => {
                write!(f, "{{ command = {command:?}, args = {arguments:?}")?;
                if let Some(directory) = directory {
                    write!(f, ", cwd = {directory:?}")?;
                }
                if !environment.is_empty() {
                    write!(f, ", env = {{ {} }}", hidden(environment))?;
                }
            }
            ServerAccess::OldAddress { url } => {
                write!(f, "{{ type = \"sse\", url = {:?}", without_credentials(url))?;
            }
            ServerAccess::Address { url, headers, helper, oauth } => {
                write!(f, "{{ url = {:?}", without_credentials(url))?;
                if !helper.is_empty() {
                    write!(f, ", headersHelper = {helper:?}")?;
                }
                if *oauth != OAuthSettings::default() {
                    f.write_str(", oauth = { … }")?;
                }
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

/// A program with its arguments: a list, or one text without anything that only a shell would understand.
fn helper(value: &Value) -> Result<Vec<String>, String> {
    let Some(text) = value.as_str() else {
        return words("headersHelper", value)
            .and_then(|words| if words.is_empty() { Err("`headersHelper` is empty".to_owned()) } else { Ok(words) });
    };
    if text.replace("${", "").replace('}', "").contains(|letter| OF_SHELLS.contains(letter)) {
        return Err("`headersHelper` is run without a shell; write a list of its program and arguments".to_owned());
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() { Err("`headersHelper` is empty".to_owned()) } else { Ok(words) }
}

fn oauth(value: &Value) -> Result<OAuthSettings, String> {
    const KEYS: [&str; 4] = ["clientId", "clientSecret", "callbackPort", "scopes"];
    let fields = value.as_object().ok_or_else(|| format!("`oauth` must be a table of {}", KEYS.join(", ")))?;
    if let Some(other) = fields.keys().find(|key| !KEYS.contains(&camel(key).as_str())) {
        return Err(format!("`oauth` has no `{other}`; it has {}", KEYS.join(", ")));
    }
    let field = |key: &str| fields.iter().find(|(name, _)| camel(name) == key).map(|(_, value)| value);
    let word = |key: &str| field(key).map(|value| text(&format!("oauth.{key}"), value)).transpose();
    let port = |value: &Value| value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
    let callback_port = match field("callbackPort") {
        None => None,
        Some(value) => Some(port(value).ok_or("`oauth.callbackPort` must be a number from 1 to 65535")?),
    };
    let scopes = match field("scopes") {
        None => Vec::new(),
        Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(list) => words("oauth.scopes", list)?,
    };
    Ok(OAuthSettings { client_id: word("clientId")?, client_secret: word("clientSecret")?, callback_port, scopes })
}

/// A key as other programs write it: `client_id` is `clientId`.
fn camel(key: &str) -> String {
    let mut parts = key.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let mut letters = part.chars();
        name + &letters.next().map(|letter| letter.to_ascii_uppercase().to_string()).unwrap_or_default()
            + letters.as_str()
    })
}

/// A time limit as other programs write it. It is never below a second.
fn milliseconds(value: &Value) -> Result<Duration, String> {
    let fits = |time: &u64| (1..=MOST_CALL_SECONDS * 1000).contains(time);
    let time = value.as_u64().filter(fits).ok_or_else(|| {
        format!("`timeout` must be a whole number of milliseconds from 1 to {}", MOST_CALL_SECONDS * 1000)
    })?;
    Ok(Duration::from_millis(time.max(1000)))
}

fn words(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let fits = |word: &&str| word.len() <= MAX_TEXT_BYTES && !word.contains('\0');
    let items = value.as_array().filter(|items| items.len() <= MAX_WORDS);
    let words =
        items.and_then(|items| items.iter().map(|item| item.as_str().filter(fits).map(str::to_owned)).collect());
    words.ok_or_else(|| format!("`{key}` must be a list of at most {MAX_WORDS} texts"))
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
