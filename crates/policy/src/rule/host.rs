//! Patterns for hosts: `domain:example.com` exactly, `domain:*.example.com` for what is below it.

use url::Host;

use crate::pairs::{EDGE, Pairs};

/// A pattern for hosts, in the form that URL parsing leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostPattern {
    Exact(String),
    /// Everything below this host, not the host itself.
    Below(String),
}

impl HostPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "a host is written `domain:example.com`, or `domain:*.example.com` for all below it";
        let said = text.strip_prefix("domain:").ok_or(FORM)?;
        let (below, host) = said.strip_prefix("*.").map_or((false, said), |host| (true, host));
        let host = normal(host).filter(|host| !host.contains('*')).ok_or(FORM)?;
        Ok(if below { Self::Below(host) } else { Self::Exact(host) })
    }

    pub(crate) fn covers(&self, host: &str) -> bool {
        match self {
            Self::Exact(own) => own == host,
            Self::Below(own) => {
                host.strip_suffix(own.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
        }
    }

    /// What occurs in every host that it covers.
    pub(crate) fn pairs(&self) -> Pairs {
        let mut pairs = Pairs::default();
        match self {
            Self::Exact(host) => pairs.add_name(host),
            Self::Below(host) => pairs.add(['.'].into_iter().chain(host.chars()).chain([EDGE])),
        }
        pairs
    }
}

/// A host in the one form in which it is compared: lower case, punycode, no trailing dot, addresses in full.
pub(crate) fn normal(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let parsed = Host::parse(host)
        .or_else(|error| if host.contains(':') { Host::parse(&format!("[{host}]")) } else { Err(error) });
    parsed.ok().map(|host| host.to_string())
}
