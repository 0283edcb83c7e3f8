//! Listening ports of this machine, as far as the system shows them without a connection.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[cfg(target_os = "linux")]
const LISTENING: &str = "0A";

/// Listening sockets come first in these files; on a busy server any number of others follow.
#[cfg(target_os = "linux")]
const MOST_LINES: usize = 4096;

/// Address of a server at this port; `None` if nobody listens.
#[cfg(target_os = "linux")]
pub(super) fn at(port: u16) -> Option<SocketAddr> {
    use std::io::{BufRead as _, BufReader};
    ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().find_map(|table| {
        let lines = BufReader::new(std::fs::File::open(table).ok()?).lines().map_while(Result::ok).take(MOST_LINES);
        lines.filter_map(|line| listener(&line)).filter(|listener| listener.port() == port).find_map(reachable)
    })
}

/// Address of a possible server; other systems do not show if anybody listens.
#[cfg(not(target_os = "linux"))]
pub(super) fn at(port: u16) -> Option<SocketAddr> {
    reachable(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
}

/// Socket of one line, if it listens.
#[cfg(target_os = "linux")]
fn listener(line: &str) -> Option<SocketAddr> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let (local, state) = (fields.next()?, fields.nth(1)?);
    if state != LISTENING {
        return None;
    }
    let (address, port) = local.split_once(':')?;
    Some(SocketAddr::new(ip(address)?, u16::from_str_radix(port, 16).ok()?))
}

/// Parses an address in the kernel's spelling: 32-bit words in this machine's order of the network bytes.
#[cfg(target_os = "linux")]
fn ip(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = hex.get(at * 8..at * 8 + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    match hex.len() {
        8 => Some(IpAddr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for (at, chunk) in bytes.chunks_exact_mut(4).enumerate() {
                chunk.copy_from_slice(&word(at)?);
            }
            Some(Ipv6Addr::from(bytes).to_canonical())
        }
        _ => None,
    }
}

/// Loopback address that reaches a listener; `None` for one that listens on another network only.
fn reachable(listener: SocketAddr) -> Option<SocketAddr> {
    let address = match listener.ip() {
        address if address.is_loopback() => address,
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        _ => return None,
    };
    Some(SocketAddr::new(address, listener.port()))
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_endian = "little"))]
mod tests {
    use super::*;

    /// Line as the kernel writes it.
    fn line(local: &str, state: &str) -> String {
        format!("   0: {local} 00000000:0000 {state} 00000000:00000000 00:00000000 00000000     0        0 53 1 0")
    }

    #[test]
    fn listeners_on_loopback_or_everywhere_are_found_and_no_others() {
        let everywhere = "00000000000000000000000000000000:2CAA";
        let loopback6 = "00000000000000000000000001000000:2CAA";
        let mapped = "0000000000000000FFFF00000100007F:2CAA";
        for (local, state, expected) in [
            ("0100007F:2CAA", "0A", Some("127.0.0.1:11434")),
            ("0200007F:2CAA", "0A", Some("127.0.0.2:11434")),
            ("00000000:2CAA", "0A", Some("127.0.0.1:11434")),
            ("0700000A:2CAA", "0A", None),
            ("0100007F:2CAA", "01", None),
            (everywhere, "0A", Some("[::1]:11434")),
            (loopback6, "0A", Some("[::1]:11434")),
            (mapped, "0A", Some("127.0.0.1:11434")),
            ("nonsense", "0A", None),
        ] {
            let found = listener(&line(local, state)).and_then(reachable).map(|address| address.to_string());
            assert_eq!(found.as_deref(), expected, "{local} {state}");
        }
        assert_eq!(listener("  sl  local_address rem_address   st tx_queue rx_queue"), None);
    }

    #[test]
    fn an_existing_listener_is_seen_and_a_missing_one_is_not() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap();
        assert_eq!(at(address.port()), Some(address));
        assert_eq!(at(0), None, "nobody can listen at port 0");
    }
}
