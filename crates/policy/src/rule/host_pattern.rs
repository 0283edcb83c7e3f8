//! Patterns for hosts: `domain:example.com` exactly, `domain:*.example.com` for its subdomains.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::Host;

use crate::text::{Bigrams, EDGE};

/// A pattern for hosts, in the form that URL parsing produces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HostPattern {
    Exact(String),
    /// The subdomains of this host, not the host itself.
    Below(String),
}

impl HostPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        const FORM: &str = "write a host as `domain:example.com`, or `domain:*.example.com` for its subdomains";
        let said = text.strip_prefix("domain:").ok_or(FORM)?;
        let (below, host) = said.strip_prefix("*.").map_or((false, said), |host| (true, host));
        let host = normal_host(host).filter(|host| !host.contains('*')).ok_or(FORM)?;
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

    /// Bigrams that occur in every host it covers.
    pub(crate) fn bigrams(&self) -> Bigrams {
        let mut bigrams = Bigrams::default();
        match self {
            Self::Exact(host) => bigrams.add_name(host),
            Self::Below(host) => bigrams.add(['.'].into_iter().chain(host.chars()).chain([EDGE])),
        }
        bigrams
    }
}

/// Returns a host in canonical form for comparison: lower case, punycode, no trailing dot, addresses in full.
pub(crate) fn normal_host(host: &str) -> Option<String> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let parsed = Host::parse(host)
        .or_else(|error| if host.contains(':') { Host::parse(&format!("[{host}]")) } else { Err(error) });
    Some(match parsed.ok()? {
        Host::Ipv6(address) => embedded(address).map_or_else(|| format!("[{address}]"), |inner| inner.to_string()),
        host => host.to_string(),
    })
}

/// Returns the IPv4 address that an IPv6 address leads to: a rule about one also covers the other.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    const NAT64: [u16; 6] = [0x64, 0xff9b, 0, 0, 0, 0];
    let [.., high, low] = address.segments();
    let through_nat64 = || Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    address.to_ipv4_mapped().or_else(|| (address.segments()[..6] == NAT64).then(through_nat64))
}
