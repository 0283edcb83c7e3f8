//! `ClientHello`: the server name at the start of a TLS connection, from the client's first record.
//!
//! It parses only the way to the name, and only what every server must read in the same way.

/// The first bytes of a record: a handshake, and the version's major number.
const TLS: [u8; 2] = [22, 3];
const CLIENT_HELLO: usize = 1;
const SERVER_NAME: usize = 0;
/// Extensions that hide the server's name or another one behind it: encrypted hello, and the draft before it.
const HIDING: [usize; 2] = [0xfe0d, 0xffce];

const RECORD_HEADER: usize = 5;
const MAX_RECORD_BYTES: usize = 1 << 14;

/// The server that a client requests.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ClientHello {
    /// In lower case; `None` if the client names no server.
    pub(super) server_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ClientHelloError {
    #[error("only TLS goes through a tunnel; plain http is asked of the proxy without one")]
    NotTls,
    #[error("its TLS cannot be read: its hello is malformed, or split over several records")]
    Malformed,
    #[error("its TLS hides which server it means (an encrypted hello)")]
    Hidden,
}

/// Parses the bytes a client has sent so far; `None` if its hello is incomplete.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<ClientHello>, ClientHelloError> {
    if !bytes.iter().zip(TLS).all(|(&byte, wanted)| byte == wanted) {
        return Err(ClientHelloError::NotTls);
    }
    let Some((&[_, _, _, high, low], rest)) = bytes.split_first_chunk::<RECORD_HEADER>() else { return Ok(None) };
    let n_bytes = usize::from(u16::from_be_bytes([high, low]));
    if n_bytes == 0 || n_bytes > MAX_RECORD_BYTES {
        return Err(ClientHelloError::Malformed);
    }
    let Some(record) = rest.get(..n_bytes) else { return Ok(None) };
    client_hello(record).map(Some)
}

fn client_hello(record: &[u8]) -> Result<ClientHello, ClientHelloError> {
    let extensions = extensions(record).ok_or(ClientHelloError::Malformed)?;
    if extensions.iter().any(|(kind, _)| HIDING.contains(kind)) {
        return Err(ClientHelloError::Hidden);
    }
    let mut names = extensions.iter().filter(|(kind, _)| *kind == SERVER_NAME);
    let server_name = match (names.next(), names.next()) {
        (None, _) => None,
        (Some((_, content)), None) => Some(server_name(content).ok_or(ClientHelloError::Malformed)?),
        (Some(_), Some(_)) => return Err(ClientHelloError::Malformed),
    };
    Ok(ClientHello { server_name })
}

/// Returns the extensions of a hello that fills the record.
fn extensions(record: &[u8]) -> Option<Vec<(usize, &[u8])>> {
    let mut record = Reader(record);
    if record.number(1)? != CLIENT_HELLO {
        return None;
    }
    let mut hello = Reader(record.list(3)?);
    let (_version, _random) = (hello.take(2)?, hello.take(32)?);
    let (_session, _ciphers, _compressions) = (hello.list(1)?, hello.list(2)?, hello.list(1)?);
    let mut list = Reader(if hello.is_empty() { &[] } else { hello.list(2)? });
    let mut extensions = Vec::new();
    while !list.is_empty() {
        extensions.push((list.number(2)?, list.list(2)?));
    }
    (hello.is_empty() && record.is_empty()).then_some(extensions)
}

/// Returns the only name in the extension's content.
fn server_name(content: &[u8]) -> Option<String> {
    const HOST_NAME: usize = 0;
    let mut content = Reader(content);
    let mut list = Reader(content.list(2)?);
    let kind = list.number(1)?;
    let name = str::from_utf8(list.list(2)?).ok()?;
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    let is_one = kind == HOST_NAME && list.is_empty() && content.is_empty();
    (is_plain && is_one).then(|| name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase())
}

/// Takes bytes from the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a number of this many bytes.
    fn number(&mut self, n_bytes: usize) -> Option<usize> {
        Some(self.take(n_bytes)?.iter().fold(0, |number, &byte| number << 8 | usize::from(byte)))
    }

    /// Reads the bytes after a length field of this many bytes.
    fn list(&mut self, n_length_bytes: usize) -> Option<&'a [u8]> {
        let n_bytes = self.number(n_length_bytes)?;
        self.take(n_bytes)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxy::tests::{ServerName, greeting};

    /// A length field of this many bytes, and the content.
    fn list(n_length_bytes: usize, content: &[u8]) -> Vec<u8> {
        [&content.len().to_be_bytes()[8 - n_length_bytes..], content].concat()
    }

    fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes(), &*list(2, content)].concat()
    }

    fn name(kind: u8, name: &str) -> Vec<u8> {
        [&[kind], &*list(2, name.as_bytes())].concat()
    }

    fn names(names: &[Vec<u8>]) -> Vec<u8> {
        extension(0, &list(2, &names.concat()))
    }

    fn body(extensions: &[Vec<u8>]) -> Vec<u8> {
        let start = [&[3, 3], &[7; 32][..], &list(1, &[9; 32]), &list(2, &[0x13, 1]), &list(1, &[0])].concat();
        [start, list(2, &extensions.concat())].concat()
    }

    fn record(kind: u8, content: &[u8]) -> Vec<u8> {
        [&[kind, 3, 1], &*list(2, content)].concat()
    }

    fn hello(extensions: &[Vec<u8>]) -> Vec<u8> {
        record(22, &[&[1], &*list(3, &body(extensions))].concat())
    }

    #[test]
    fn the_name_is_found_in_a_real_clients_hello() {
        let named = |name: &str| Ok(Some(ClientHello { server_name: Some(name.to_owned()) }));
        assert_eq!(parse(&greeting("Some.Example", ServerName::Sent)), named("some.example"));
        assert_eq!(parse(&greeting("some.example", ServerName::Withheld)), Ok(Some(ClientHello { server_name: None })));
        assert_eq!(parse(&greeting("192.0.2.1", ServerName::Sent)), Ok(Some(ClientHello { server_name: None })));
    }

    #[test]
    fn a_hello_is_parsed_once_it_is_complete() {
        let whole = greeting("some.example", ServerName::Sent);
        for n_bytes in 0..whole.len() {
            assert_eq!(parse(&whole[..n_bytes]), Ok(None), "{n_bytes}");
        }
        let more = [&*whole, b"more"].concat();
        assert_eq!(parse(&more), parse(&whole));
    }

    #[test]
    fn a_hello_with_more_than_one_name_is_refused() {
        let other = extension(16, b"other");
        let some = || names(&[name(0, "some.example")]);
        for (extensions, expected) in [
            (vec![], Ok(None)),
            (vec![other.clone()], Ok(None)),
            (vec![some()], Ok(Some("some.example"))),
            (vec![other.clone(), names(&[name(0, "SOME.example.")]), other], Ok(Some("some.example"))),
            (vec![some(), some()], Err(ClientHelloError::Malformed)),
            (vec![names(&[name(0, "some.example"), name(0, "evil.example")])], Err(ClientHelloError::Malformed)),
            (vec![names(&[name(1, "some.example")])], Err(ClientHelloError::Malformed)),
            (vec![names(&[name(0, "")])], Err(ClientHelloError::Malformed)),
            (vec![names(&[])], Err(ClientHelloError::Malformed)),
            (vec![names(&[name(0, "some.example\0.evil.example")])], Err(ClientHelloError::Malformed)),
            (vec![names(&[name(0, "söme.example")])], Err(ClientHelloError::Malformed)),
            (
                vec![extension(0, &[list(2, &name(0, "some.example")), vec![0]].concat())],
                Err(ClientHelloError::Malformed),
            ),
            (vec![extension(0, b"")], Err(ClientHelloError::Malformed)),
            (vec![some(), extension(0xfe0d, b"inner")], Err(ClientHelloError::Hidden)),
            (vec![extension(0xffce, b"inner")], Err(ClientHelloError::Hidden)),
        ] {
            let expected = expected.map(|name| Some(ClientHello { server_name: name.map(str::to_owned) }));
            assert_eq!(parse(&hello(&extensions)), expected, "{extensions:?}");
        }
    }

    #[test]
    fn anything_but_one_whole_hello_in_one_record_is_refused() {
        let body = body(&[names(&[name(0, "some.example")])]);
        let whole = [&[1], &*list(3, &body)].concat();
        let (first, second) = whole.split_at(60);
        for (bytes, expected) in [
            (b"GET / HTTP/1.1\r\n".to_vec(), ClientHelloError::NotTls),
            (b"SSH-2.0-x".to_vec(), ClientHelloError::NotTls),
            (b"\x16\x02".to_vec(), ClientHelloError::NotTls),
            (b"\x80\x2e\x01".to_vec(), ClientHelloError::NotTls),
            (record(23, &whole), ClientHelloError::NotTls),
            ([record(22, first), record(22, second)].concat(), ClientHelloError::Malformed),
            (record(22, b""), ClientHelloError::Malformed),
            (b"\x16\x03\x01\x40\x01".to_vec(), ClientHelloError::Malformed),
            (record(22, &[&[2], &*list(3, &body)].concat()), ClientHelloError::Malformed),
            (record(22, &[&*whole, b"x"].concat()), ClientHelloError::Malformed),
            (record(22, &[&[1], &*list(3, &[&*body, b"x"].concat())].concat()), ClientHelloError::Malformed),
            (record(22, &[&[1], &*list(3, &body[..body.len() - 1])].concat()), ClientHelloError::Malformed),
        ] {
            assert_eq!(parse(&bytes), Err(expected), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_hello_of_the_old_form_has_no_extensions() {
        let old = [&[3, 1], &[7; 32][..], &list(1, b""), &list(2, &[0, 5]), &list(1, &[0])].concat();
        assert_eq!(parse(&record(22, &[&[1], &*list(3, &old)].concat())), Ok(Some(ClientHello { server_name: None })));
    }
}
