//! Names under which this server may be addressed. A page in a browser can point a name of its own at this server, but
//! cannot make its requests carry one of ours.

use std::net::{IpAddr, SocketAddr};

use http::uri::Authority;

/// Permitted values of `Host` and origins of pages.
#[derive(Debug, Clone)]
pub(crate) struct HostNames {
    address: SocketAddr,
    /// Set if other machines may connect: under any address, and these names.
    remote: Option<Vec<String>>,
}

impl HostNames {
    pub(crate) fn new(address: SocketAddr, remote: Option<Vec<String>>) -> Self {
        Self { address, remote }
    }

    /// True if a `Host` is ours: a loopback name or our own address, with our port. If other machines may connect, also
    /// any address, which unlike a name cannot be pointed elsewhere, and the given names, with any port.
    pub(crate) fn admit_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        if host.contains('@') {
            return false;
        }
        let name = authority.host().to_ascii_lowercase();
        if self.remote.iter().flatten().any(|given| given.eq_ignore_ascii_case(&name)) {
            return true;
        }
        // The default is the port of HTTP.
        if authority.port().map_or(Some(80), |port| port.as_str().parse().ok()) != Some(self.address.port()) {
            return false;
        }
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
        match bare.parse::<IpAddr>() {
            Ok(address) => self.remote.is_some() || address.is_loopback() || address == self.address.ip(),
            Err(_) => name == "localhost",
        }
    }

    /// True if the origin of a page is ours. `null` belongs to nobody.
    pub(crate) fn admit_origin(&self, origin: &str) -> bool {
        let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        host.is_some_and(|host| self.admit_host(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local() -> HostNames {
        HostNames::new("127.0.0.1:8808".parse().unwrap(), None)
    }

    #[test]
    fn loopback_names_with_the_port_are_ours() {
        for host in ["127.0.0.1:8808", "localhost:8808", "LocalHost:8808", "[::1]:8808"] {
            assert!(local().admit_host(host), "{host}");
        }
    }

    #[test]
    fn other_names_ports_and_spellings_are_not() {
        for host in [
            "evil.example",
            "evil.example:8808",
            "localhost",
            "localhost:80",
            "localhost:8809",
            "localhost:",
            "localhost.evil.example:8808",
            "127.0.0.1.evil.example:8808",
            "evil.example@localhost:8808",
            "localhost:8808@evil.example",
            "10.0.0.1:8808",
            "0.0.0.0:8808",
            "2130706433:8808",
            "127.1:8808",
            "localhost:8808/x",
            "",
        ] {
            assert!(!local().admit_host(host), "{host}");
        }
    }

    #[test]
    fn a_page_must_come_from_one_of_our_names() {
        assert!(local().admit_origin("http://localhost:8808"));
        for origin in ["null", "", "http://evil.example", "http://localhost:3000", "file://", "localhost:8808"] {
            assert!(!local().admit_origin(origin), "{origin}");
        }
    }

    #[test]
    fn with_remote_access_any_address_and_the_given_names_are_ours() {
        let names = HostNames::new("0.0.0.0:8808".parse().unwrap(), Some(vec!["build.example".to_owned()]));
        for host in ["10.0.0.1:8808", "[2001:db8::1]:8808", "localhost:8808", "build.example", "Build.Example:443"] {
            assert!(names.admit_host(host), "{host}");
        }
        for host in ["10.0.0.1", "10.0.0.1:80", "evil.example:8808", "sub.build.example:8808"] {
            assert!(!names.admit_host(host), "{host}");
        }
    }
}
