//! `WebRules`: inner addresses that the user opened, and addresses that belong to the program itself.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::str::FromStr;

use ipnet::IpNet;
use url::{Host, Url};

use super::address;
use super::address::plain;
use super::guard;
use super::target::Target;

/// The addresses that [`WebFetch`](crate::WebFetch) may reach besides the internet, and those it must never reach.
///
/// Inner addresses (loopback, private networks, link-local and the like) are refused unless `private` names them. The
/// servers in `own` are always refused.
#[derive(Debug, Clone, Default)]
pub struct WebRules {
    private: Vec<Place>,
    own: Vec<Place>,
}

/// The verdict on a URL before any lookup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// The host as a grant knows it.
    pub host: String,
    /// The reason why it is never fetched, if so.
    pub refusal: Option<String>,
}

/// An invalid rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebRulesError {
    #[error(
        "`{given}` is not a place on the network ({reason}); write a host (`wiki.internal`), an address \
         (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)"
    )]
    Private { given: String, reason: String },
    #[error("`{given}` is not a server ({reason}); write its host and port (`127.0.0.1:8080`) or its URL")]
    Own { given: String, reason: String },
}

/// The place that a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    host: PlaceHost,
    /// `None` is every port.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum PlaceHost {
    Name(String),
    Network(IpNet),
}

impl WebRules {
    /// Reads rules from texts. `private` has hosts, addresses and networks, the first two with or without a port; a
    /// name stands for whatever it leads to. `own` has `host:port`, or URLs, of which only host and port count.
    pub fn new<T: AsRef<str>>(
        private: impl IntoIterator<Item = T>,
        own: impl IntoIterator<Item = T>,
    ) -> Result<Self, WebRulesError> {
        let to_private = |text: T| {
            let given = text.as_ref();
            given.parse().map_err(|reason| WebRulesError::Private { given: given.to_owned(), reason })
        };
        let to_own = |text: T| {
            let given = text.as_ref();
            own_place(given).map_err(|reason| WebRulesError::Own { given: given.to_owned(), reason })
        };
        Ok(Self {
            private: private.into_iter().map(to_private).collect::<Result<_, _>>()?,
            own: own.into_iter().map(to_own).collect::<Result<_, _>>()?,
        })
    }

    /// Reads a URL as a call would. An error says in words why it could not be fetched.
    pub fn reach(&self, url: &str) -> Result<Reach, String> {
        let target = Target::parse(url).map_err(|error| error.to_string())?;
        let refusal = guard::refusal(self, &target).map(|error| error.to_string());
        Ok(Reach { host: target.host().to_owned(), refusal })
    }

    /// True if this host of this machine, by name or address, may be reached at some port.
    pub(crate) fn names_inside(&self, host: &str) -> bool {
        let address = if host == "localhost" { Ok(Ipv4Addr::LOCALHOST.into()) } else { host.parse::<IpAddr>() };
        let holds = |place: &Place| match &place.host {
            PlaceHost::Name(name) => name == host,
            PlaceHost::Network(network) => address.as_ref().is_ok_and(|address| network.contains(address)),
        };
        self.private.iter().any(holds)
    }

    /// True if an inner address may be reached for this target.
    pub(super) fn allows(&self, target: &Target, address: IpAddr) -> bool {
        let holds = |place: &Place| match &place.host {
            PlaceHost::Name(name) => name == target.host(),
            PlaceHost::Network(network) => network.contains(&address) || network.contains(&plain(address)),
        };
        self.private.iter().any(|place| place.is_at(target.port()) && holds(place))
    }

    /// True if the target is one of the program's own servers by name alone.
    pub(super) fn is_own_name(&self, target: &Target) -> bool {
        let is_same = |place: &Place| matches!(&place.host, PlaceHost::Name(name) if name == target.host());
        self.own.iter().any(|place| place.is_at(target.port()) && is_same(place))
    }

    /// True if the address is one of the program's own servers.
    pub(super) fn is_own_address(&self, address: SocketAddr) -> bool {
        let is_same = |place: &Place| match &place.host {
            PlaceHost::Name(_) => false,
            PlaceHost::Network(network) => is_same_machine(network.addr(), address.ip()),
        };
        self.own.iter().any(|place| place.is_at(address.port()) && is_same(place))
    }

    /// The names of the program's own servers at this port. Their current addresses are refused as well.
    pub(super) fn own_names(&self, port: u16) -> impl Iterator<Item = &str> {
        self.own.iter().filter(move |place| place.is_at(port)).filter_map(|place| match &place.host {
            PlaceHost::Name(name) => Some(name.as_str()),
            PlaceHost::Network(_) => None,
        })
    }
}

/// True if our own server at `own` may be the one that answers at `address`, given the same port.
///
/// A server on this machine may answer at each of the machine's addresses, which nobody here can list. So if either
/// leads to this machine, every inner address counts as the other.
pub(super) fn is_same_machine(own: IpAddr, address: IpAddr) -> bool {
    let (own, address) = (plain(own), plain(address));
    let is_inner = |address| address::inside(address).is_some();
    own == address
        || (address::is_this_machine(own) && is_inner(address))
        || (address::is_this_machine(address) && is_inner(own))
}

impl Place {
    fn is_at(&self, port: u16) -> bool {
        self.port.is_none_or(|own| own == port)
    }
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if let Ok(network) = text.parse::<IpNet>() {
            return Ok(Self { host: PlaceHost::Network(network.trunc()), port: None });
        }
        if let Ok(address) = text.parse::<IpAddr>() {
            return Ok(Self { host: PlaceHost::Network(address.into()), port: None });
        }
        if text.contains('/') {
            return Err("neither a network nor a host".to_owned());
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().map_err(|_| format!("`{port}` is not a port"))?)),
            None => (text, None),
        };
        Ok(Self { host: PlaceHost::parse(host)?, port })
    }
}

impl PlaceHost {
    /// Parses a host as URLs do, so that both are spelled alike.
    fn parse(text: &str) -> Result<Self, String> {
        if text.contains('*') {
            return Err("a `*` matches nothing here".to_owned());
        }
        let bare = text.strip_suffix('.').unwrap_or(text);
        if bare.split('.').any(str::is_empty) {
            return Err("a part of the host is empty".to_owned());
        }
        // `Host::parse` alone accepts prefixes that no URL host has, such as `user@`.
        if bare.contains(['@', '\\', '?', '#']) {
            return Err("not a host".to_owned());
        }
        Ok(match Host::parse(bare).map_err(|error| error.to_string())? {
            Host::Domain(name) => Self::Name(name),
            Host::Ipv4(address) => Self::Network(IpAddr::from(address).into()),
            Host::Ipv6(address) => Self::Network(IpAddr::from(address).into()),
        })
    }
}

fn own_place(text: &str) -> Result<Place, String> {
    if text.contains("://") {
        let url = Url::parse(text.trim()).map_err(|error| error.to_string())?;
        let port = url.port_or_known_default().ok_or("it has no port")?;
        let host = url.host_str().ok_or("it has no host")?;
        return Ok(Place { host: PlaceHost::parse(host)?, port: Some(port) });
    }
    let place: Place = text.parse()?;
    match (&place.host, place.port) {
        (_, None) => Err("it has no port".to_owned()),
        _ => Ok(place),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn allows(rule: &str, url: &str, address: &str) -> bool {
        let rules = WebRules::new([rule], []).unwrap();
        rules.allows(&Target::parse(url).unwrap(), address.parse().unwrap())
    }

    #[test]
    fn a_private_place_is_a_host_address_or_network_with_or_without_a_port() {
        for (rule, url, address, allowed) in [
            ("127.0.0.1:8080", "http://127.0.0.1:8080", "127.0.0.1", true),
            ("127.0.0.1:8080", "http://localhost:8080", "127.0.0.1", true),
            ("127.0.0.1:8080", "http://127.0.0.1:8081", "127.0.0.1", false),
            ("127.0.0.1:8080", "http://127.0.0.2:8080", "127.0.0.2", false),
            ("127.0.0.1", "http://127.0.0.1:9", "::ffff:127.0.0.1", true),
            ("[::1]:80", "http://[::1]/", "::1", true),
            ("::1", "https://[::1]/", "::1", true),
            ("10.0.0.0/8", "https://wiki.internal/", "10.1.2.3", true),
            ("10.1.2.3/8", "https://wiki.internal/", "10.9.9.9", true),
            ("10.0.0.0/8", "https://wiki.internal/", "11.1.2.3", false),
            ("fd00::/8", "https://wiki.internal/", "fd12::1", true),
            ("Wiki.Internal.", "https://wiki.internal./x", "10.1.2.3", true),
            ("wiki.internal:443", "http://wiki.internal/x", "10.1.2.3", false),
            ("wiki.internal", "http://other.wiki.internal/x", "10.1.2.3", false),
            ("wiki.internal", "http://10.1.2.3/x", "10.1.2.3", false),
        ] {
            assert_eq!(allows(rule, url, address), allowed, "{rule} {url} {address}");
        }
    }

    #[test]
    fn an_invalid_rule_is_refused_with_the_reason() {
        let mut text = String::new();
        for rule in ["", "10.0.0.0/99", "host:port", "http://host", "*.internal", "a b", "user@host", "a..b", "::1:x"] {
            text += &format!("{}\n", WebRules::new([rule], []).unwrap_err());
        }
        for rule in ["", "host", "10.0.0.0/8", "file:///x", "http://", "a@b:1"] {
            text += &format!("{}\n", WebRules::new([], [rule]).unwrap_err());
        }
        expect![[r#"
            `` is not a place on the network (a part of the host is empty); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `10.0.0.0/99` is not a place on the network (neither a network nor a host); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `host:port` is not a place on the network (`port` is not a port); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `http://host` is not a place on the network (neither a network nor a host); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `*.internal` is not a place on the network (a `*` matches nothing here); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `a b` is not a place on the network (invalid international domain name); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `user@host` is not a place on the network (not a host); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `a..b` is not a place on the network (a part of the host is empty); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `::1:x` is not a place on the network (`x` is not a port); write a host (`wiki.internal`), an address (`127.0.0.1:8080`, `[::1]:8080`) or a network (`10.0.0.0/8`)
            `` is not a server (a part of the host is empty); write its host and port (`127.0.0.1:8080`) or its URL
            `host` is not a server (it has no port); write its host and port (`127.0.0.1:8080`) or its URL
            `10.0.0.0/8` is not a server (it has no port); write its host and port (`127.0.0.1:8080`) or its URL
            `file:///x` is not a server (it has no port); write its host and port (`127.0.0.1:8080`) or its URL
            `http://` is not a server (empty host); write its host and port (`127.0.0.1:8080`) or its URL
            `a@b:1` is not a server (not a host); write its host and port (`127.0.0.1:8080`) or its URL
        "#]].assert_eq(&text);
    }

    #[test]
    fn our_own_server_here_is_recognised_at_every_address_it_may_answer_at() {
        for (own, address, same) in [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.9.9.9", true),
            ("127.0.0.1", "::1", true),
            ("0.0.0.0", "192.168.1.5", true),
            ("::1", "::ffff:127.0.0.1", true),
            ("127.0.0.1", "8.8.8.8", false),
            ("192.168.1.5", "192.168.1.5", true),
            ("192.168.1.5", "192.168.1.6", false),
            ("192.168.1.5", "127.0.0.1", true),
            ("8.8.8.8", "127.0.0.1", false),
        ] {
            assert_eq!(is_same_machine(own.parse().unwrap(), address.parse().unwrap()), same, "{own} {address}");
        }
    }
}
