//! Kinds of IP addresses: public ones, and the ranges that are not.
//!
//! For IPv6, only addresses known to be routed publicly count. An address that carries an IPv4 address is judged by
//! that.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), prefix)
}

const fn v6(segments: [u16; 3], prefix: u8) -> Ipv6Net {
    let [a, b, c] = segments;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), prefix)
}

/// IPv4 networks outside the public internet, and their kinds.
const INSIDE_V4: &[(Ipv4Net, &str)] = &[
    (v4(0, 0, 0, 0, 8), "this machine itself"),
    (v4(10, 0, 0, 0, 8), "a private network"),
    (v4(100, 64, 0, 0, 10), "a carrier's network"),
    (v4(127, 0, 0, 0, 8), "loopback"),
    (v4(168, 63, 129, 16, 32), "a cloud's own service"),
    (v4(169, 254, 0, 0, 16), "link-local"),
    (v4(172, 16, 0, 0, 12), "a private network"),
    (v4(192, 0, 0, 0, 24), "reserved"),
    (v4(192, 0, 2, 0, 24), "for documentation"),
    (v4(192, 88, 99, 0, 24), "a 6to4 relay"),
    (v4(192, 168, 0, 0, 16), "a private network"),
    (v4(198, 18, 0, 0, 15), "for benchmarks"),
    (v4(198, 51, 100, 0, 24), "for documentation"),
    (v4(203, 0, 113, 0, 24), "for documentation"),
    (v4(224, 0, 0, 0, 4), "multicast"),
    (v4(240, 0, 0, 0, 4), "reserved"),
];

/// Named IPv6 networks, narrower ones first. Anything outside these and [`GLOBAL_V6`] is reserved.
const INSIDE_V6: &[(Ipv6Net, &str)] = &[
    (v6([0x64, 0xff9b, 1], 48), "a local NAT64 network"),
    (v6([0x2001, 0, 0], 32), "Teredo"),
    (v6([0x2001, 2, 0], 48), "for benchmarks"),
    (v6([0x2001, 0xdb8, 0], 32), "for documentation"),
    (v6([0x2001, 0, 0], 23), "reserved"),
    (v6([0x2002, 0, 0], 16), "6to4"),
    (v6([0x3fff, 0, 0], 20), "for documentation"),
    (v6([0xfc00, 0, 0], 7), "a private network"),
    (v6([0xfe80, 0, 0], 10), "link-local"),
    (v6([0xfec0, 0, 0], 10), "site-local"),
    (v6([0xff00, 0, 0], 8), "multicast"),
];

const GLOBAL_V6: Ipv6Net = v6([0x2000, 0, 0], 3);

/// Translated to IPv4 by the machine's network.
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0], 96);

/// Returns the kind of an address that is not on the public internet; `None` if it is.
pub(super) fn inside(address: IpAddr) -> Option<&'static str> {
    match plain(address) {
        IpAddr::V4(address) => INSIDE_V4.iter().find(|(network, _)| network.contains(&address)).map(|&(_, what)| what),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Some("loopback"),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Some("this machine itself"),
        IpAddr::V6(address) => {
            let named = INSIDE_V6.iter().find(|(network, _)| network.contains(&address));
            let reserved = || (!GLOBAL_V6.contains(&address)).then_some("reserved");
            named.map(|&(_, what)| what).or_else(reserved)
        }
    }
}

/// True if it leads to this machine in any network.
pub(super) fn is_this_machine(address: IpAddr) -> bool {
    let address = plain(address);
    address.is_loopback() || address.is_unspecified()
}

/// Returns the IPv4 address of a mapped or NAT64 address; any other unchanged.
pub(super) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(nat64) if NAT64.contains(&nat64) => {
            let [.., a, b, c, d] = nat64.octets();
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        other => other.to_canonical(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_last_address_of_every_inner_network_are_recognised() {
        for (first, last, what) in [
            ("0.0.0.0", "0.255.255.255", "this machine itself"),
            ("10.0.0.0", "10.255.255.255", "a private network"),
            ("100.64.0.0", "100.127.255.255", "a carrier's network"),
            ("127.0.0.0", "127.255.255.255", "loopback"),
            ("168.63.129.16", "::ffff:168.63.129.16", "a cloud's own service"),
            ("169.254.0.0", "169.254.255.255", "link-local"),
            ("172.16.0.0", "172.31.255.255", "a private network"),
            ("192.0.0.0", "192.0.0.255", "reserved"),
            ("192.0.2.0", "192.0.2.255", "for documentation"),
            ("192.88.99.0", "192.88.99.255", "a 6to4 relay"),
            ("192.168.0.0", "192.168.255.255", "a private network"),
            ("198.18.0.0", "198.19.255.255", "for benchmarks"),
            ("198.51.100.0", "198.51.100.255", "for documentation"),
            ("203.0.113.0", "203.0.113.255", "for documentation"),
            ("224.0.0.0", "239.255.255.255", "multicast"),
            ("240.0.0.0", "255.255.255.255", "reserved"),
            ("::", "::", "this machine itself"),
            ("::1", "::1", "loopback"),
            ("::2", "::7f00:1", "reserved"),
            ("::ffff:10.0.0.1", "::ffff:10.9.9.9", "a private network"),
            ("::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "link-local"),
            ("64:ff9b::7f00:1", "64:ff9b::127.255.255.255", "loopback"),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "a local NAT64 network"),
            ("100::", "1fff:ffff::", "reserved"),
            ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"),
            ("2001:2::", "2001:2:0:ffff::", "for benchmarks"),
            ("2001:10::", "2001:1ff:ffff::", "reserved"),
            ("2001:db8::", "2001:db8:ffff::", "for documentation"),
            ("2002::", "2002:7f00:1::1", "6to4"),
            ("3fff::", "3fff:fff::", "for documentation"),
            ("4000::", "fbff:ffff::", "reserved"),
            ("fc00::", "fdff:ffff::", "a private network"),
            ("fe80::", "febf::1", "link-local"),
            ("fec0::", "feff::1", "site-local"),
            ("ff00::", "ff02::1", "multicast"),
        ] {
            for text in [first, last] {
                assert_eq!(inside(text.parse().unwrap()), Some(what), "{text}");
            }
        }
    }

    #[test]
    fn the_neighbours_of_inner_networks_are_public() {
        for text in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::",
            "2001:db7:ffff::",
            "2001:db9::",
            "2003::",
            "2606:4700::1111",
            "3ffe::",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert_eq!(inside(text.parse().unwrap()), None, "{text}");
        }
    }
}
