//! Values of settings, and their kinds.

pub(super) mod mode;

use std::borrow::Cow;

use sortie_agents::ServerDefinition;
use sortie_contract::{CONTRACTS, contract};
use sortie_llm::WireKind;
use sortie_policy::{Rule, without_credentials};
use sortie_protocol::Money;
use sortie_tools::WebRules;

use super::hook::HookEntry;
use crate::environment::env_file::is_name;

/// Kind of value that a key accepts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Switch,
    /// Whole number within inclusive bounds.
    Number {
        least: u64,
        most: u64,
    },
    /// Amount of US dollars above zero, in thousand-millionths like [`Money`].
    Dollars,
    Text,
    /// Text that is never shown.
    Secret,
    /// URL with http or https.
    Url,
    /// Name of a wire.
    Wire,
    /// Name or short name of a contract.
    Contract,
    /// Name of a variable. A text that does not look like one may be a misplaced key.
    VariableName,
    /// Name of a permission mode.
    Mode,
    /// List of permission rules.
    Rules,
    /// List of directories.
    Directories,
    /// List of hosts, addresses or networks.
    Hosts,
    /// List of tables, each a program and its occasion. Only files have tables.
    Hooks,
    /// Table about one MCP server. Only files have tables.
    Server,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Switch(bool),
    Number(u64),
    /// A text, or one item of a list: a list has one value for each item.
    Text(Cow<'static, str>),
    Hook(HookEntry),
    Server(Box<ServerDefinition>),
}

/// Direction in which a value narrows. An untrusted project can only go that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Narrower {
    /// A lower number; any number is lower than none.
    Lower,
    /// `false`.
    Off,
    /// A mode that allows less.
    StricterMode,
    /// Every addition narrows.
    Always,
    /// No value is harmless.
    Never,
}

impl Narrower {
    /// True if `said` narrows `now`.
    pub(super) fn than(self, now: Option<&Value>, said: &Value) -> bool {
        match (self, now, said) {
            (Self::Always, ..) | (Self::Lower, None, Value::Number(_)) => true,
            (Self::Lower, Some(Value::Number(now)), Value::Number(said)) => said < now,
            (Self::Off, _, Value::Switch(on)) => !on,
            (Self::StricterMode, Some(Value::Text(now)), Value::Text(said)) => mode::is_stricter(said, now),
            _ => false,
        }
    }
}

impl Kind {
    /// Expected form, for messages.
    pub(super) fn expected(self) -> String {
        match self {
            Self::Switch => "true or false".to_owned(),
            Self::Number { least, most: u64::MAX } => format!("a whole number of at least {least}"),
            Self::Number { least, most } => format!("a whole number from {least} to {most}"),
            Self::Dollars => "a number of US dollars above 0".to_owned(),
            Self::Text | Self::Secret => "a non-empty string".to_owned(),
            Self::Url => "a URL that begins with http:// or https://".to_owned(),
            Self::Wire => format!("one of {}", WireKind::ALL.map(|wire| wire.to_string()).join(", ")),
            Self::Contract => format!("one of {}", CONTRACTS.join(", ")),
            Self::VariableName => "the name of a variable, like MY_KEY".to_owned(),
            Self::Mode => format!("one of {}", mode::names().join(", ")),
            Self::Rules => "a list of rules like [\"WebFetch\", \"Edit(docs/**)\"]".to_owned(),
            Self::Directories => "a list of directories like [\"../other\"]".to_owned(),
            Self::Hosts => "a list of hosts like [\"127.0.0.1:8080\"]".to_owned(),
            Self::Hooks => "tables in a file, each [[hooks]] with `on` and `command`".to_owned(),
            Self::Server => "a table in a file, with `command` or `url`".to_owned(),
        }
    }

    /// True for a list, whose values add up over the layers.
    pub(super) fn is_list(self) -> bool {
        matches!(self, Self::Rules | Self::Directories | Self::Hosts | Self::Hooks)
    }

    /// Specific mistake in an unfit text, if more is known than the expected form.
    pub(super) fn flaw(self, text: &str) -> Option<String> {
        match self {
            Self::Rules => text.parse::<Rule>().err().map(|error| error.to_string()),
            Self::Hosts => WebRules::new([text], []).err().map(|error| error.to_string()),
            _ => None,
        }
    }

    /// True if a wrong value may be quoted back.
    pub(super) fn quotable(self) -> bool {
        !matches!(self, Self::Secret | Self::Url | Self::VariableName)
    }

    /// Reads a value, or one item of a list, from a variable or flag.
    pub(super) fn parse(self, text: &str) -> Option<Value> {
        let text = text.trim();
        match self {
            Self::Switch => text.parse().ok().map(Value::Switch),
            Self::Number { .. } => text.parse().ok().and_then(|number| self.number(number)),
            Self::Dollars => dollars(text),
            _ => self.text(text),
        }
    }

    pub(super) fn number(self, number: u64) -> Option<Value> {
        match self {
            Self::Number { least, most } if (least..=most).contains(&number) => Some(Value::Number(number)),
            _ => None,
        }
    }

    pub(super) fn text(self, text: &str) -> Option<Value> {
        let fits = match self {
            Self::Text | Self::Secret | Self::Directories => !text.is_empty(),
            Self::Url => {
                ["http://", "https://"].iter().any(|scheme| text.len() > scheme.len() && text.starts_with(scheme))
            }
            Self::Wire => text.parse::<WireKind>().is_ok(),
            Self::Contract => contract(text).is_some(),
            Self::VariableName => is_name(text),
            Self::Mode => mode::named(text).is_some(),
            Self::Rules | Self::Hosts => self.flaw(text).is_none(),
            Self::Switch | Self::Number { .. } | Self::Dollars | Self::Hooks | Self::Server => false,
        };
        fits.then(|| Value::Text(text.to_owned().into()))
    }

    /// Order of importance in lists for a person: addresses and programs, then keys and permissions, then the rest.
    pub(super) fn urgency(self) -> u8 {
        match self {
            Self::Url | Self::Hosts | Self::Hooks | Self::Server => 0,
            Self::Secret | Self::VariableName | Self::Mode | Self::Rules | Self::Directories => 1,
            Self::Switch | Self::Number { .. } | Self::Dollars | Self::Text | Self::Wire | Self::Contract => 2,
        }
    }

    /// Value as `config show` prints it. Secrets stay hidden, also inside a URL.
    pub(super) fn render(self, value: &Value) -> String {
        match (self, value) {
            (Self::Secret, _) => "********".to_owned(),
            (Self::Url, Value::Text(url)) => without_credentials(url),
            (Self::Dollars, Value::Number(nanos)) => Money::from_nanos(*nanos).dollars().to_string(),
            (_, Value::Switch(on)) => on.to_string(),
            (_, Value::Number(number)) => number.to_string(),
            (_, Value::Text(text)) => format!("{text:?}"),
            (_, Value::Hook(hook)) => hook.to_string(),
            (_, Value::Server(server)) => server.to_string(),
        }
    }
}

/// Reads an amount of money.
pub(super) fn dollars(text: &str) -> Option<Value> {
    let money = text.parse().ok().filter(|dollars: &f64| dollars.is_finite()).and_then(Money::from_dollars)?;
    (money > Money::ZERO).then(|| Value::Number(money.nanos()))
}
