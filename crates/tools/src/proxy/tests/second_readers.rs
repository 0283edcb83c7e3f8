//! Differential tests: `httparse` reads each head, and `rustls` each TLS hello, in the way the proxy reads it.

use futures_util::FutureExt as _;
use proptest::prelude::*;
use rustls::server::Acceptor;

use super::{ServerName, greeting};
use crate::proxy::{client_hello, request_head};

/// Pieces of which heads are made, good ones and such as readers disagree about.
const PIECES: [&[u8]; 32] = [
    b"GET http://a/ HTTP/1.1\r\n",
    b"CONNECT a:443 HTTP/1.0\r\n",
    b"GET",
    b"http://a/?b",
    b"HTTP/1.1",
    b"HTTP/2.0",
    b"/",
    b"Host: a\r\n",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Empty:\r\n",
    b"Host",
    b"a-b_c",
    b":",
    b": ",
    b" ",
    b"\t",
    b"\r\n",
    b"\r\n",
    b"\r\n",
    b"\r\n ",
    b"\r\n\t",
    b"\r\n\r\n",
    b"\r",
    b"\n",
    b"\0",
    b"\x7f",
    b"\xc3\xa9",
    b"\xff",
    b"(,\"",
    b"~|^`",
    b"x y",
];

fn heads() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::collection::vec(prop::sample::select(&PIECES[..]), 0..8);
    let start = prop::sample::select(&PIECES[..3]);
    (start, pieces).prop_map(|(start, pieces)| [start, &pieces.concat(), b"\r\n\r\n"].concat())
}

/// A real hello with some bytes changed, most of them in or around the name.
fn hellos() -> impl Strategy<Value = Vec<u8>> {
    let hello = greeting("some.example", ServerName::Sent);
    let name = hello.windows(12).position(|bytes| bytes == b"some.example").unwrap();
    // The name may be the hello's last part: extensions come in random order.
    let at = prop_oneof![3 => name - 12..hello.len().min(name + 16), 1 => 0..hello.len()];
    let byte = prop_oneof![Just(0), Just(b'.'), Just(b'A'), Just(b'-'), any::<u8>()];
    prop::collection::vec((at, byte), 0..4).prop_map(move |changes| {
        let mut bytes = hello.clone();
        for &(at, byte) in &changes {
            bytes[at] = byte;
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_head_that_is_accepted_has_one_meaning(bytes in heads()) {
        let read = request_head::read(&mut &*bytes).now_or_never().expect("all of it is there");
        let Ok(Some((head, rest))) = read else { return Ok(()) };
        let mut headers = [httparse::EMPTY_HEADER; 100];
        let mut other = httparse::Request::new(&mut headers);
        prop_assert_eq!(other.parse(&bytes), Ok(httparse::Status::Complete(bytes.len() - rest.len())));
        let version = format!("HTTP/1.{}", other.version.unwrap());
        prop_assert_eq!((&*head.method, &*head.target), (other.method.unwrap(), other.path.unwrap()));
        prop_assert_eq!(head.version.text(), version);
        let ours: Vec<_> = head.headers.iter().map(|header| (&*header.name, &*header.value)).collect();
        let others: Vec<_> = other.headers.iter().map(|header| (header.name, header.value)).collect();
        prop_assert_eq!(ours, others);
    }

    #[test]
    fn a_hello_that_is_accepted_names_one_server(bytes in hellos()) {
        let Ok(Some(hello)) = client_hello::parse(&bytes) else { return Ok(()) };
        let mut other = Acceptor::default();
        other.read_tls(&mut &*bytes).unwrap();
        // A server that does not take the hello serves nobody.
        let Ok(accepted) = other.accept() else { return Ok(()) };
        let accepted = accepted.expect("all of it is there");
        let name = accepted.client_hello().server_name().map(|name| name.trim_end_matches('.').to_ascii_lowercase());
        // An address is not a name for `rustls`; for the proxy it must be the host that was judged.
        let is_address = hello.server_name.as_ref().is_some_and(|name| name.parse::<std::net::IpAddr>().is_ok());
        prop_assert!(hello.server_name == name || is_address, "{:?}, {:?}", hello.server_name, name);
    }
}
