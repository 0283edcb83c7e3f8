//! `RequestHead`: the head of a request, as bytes and as lines.
//!
//! It is strict on purpose: a head that two readers could read in two ways is refused, never repaired. This module does
//! not know the meaning of the lines.

use tokio::io::{AsyncRead, AsyncReadExt};

const MAX_BYTES: usize = 32 << 10;
const MAX_HEADERS: usize = 100;

/// Bytes per read.
const STEP_BYTES: usize = 4 << 10;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) version: Version,
    pub(super) headers: Vec<Header>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) name: String,
    /// Value without spaces around it; not always UTF-8.
    pub(super) value: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Http10,
    Http11,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum HeadError {
    #[error("the head of the request has more than {MAX_BYTES} bytes; send less in it")]
    TooLong,
    #[error("the request has more than {MAX_HEADERS} headers; send fewer")]
    TooMany,
    #[error("a line of the request does not end with CR LF, or has a CR in it")]
    LineEnd,
    #[error("the head of the request has the control character {byte:#04x}; this is a proxy for http and nothing else")]
    Control { byte: u8 },
    #[error("`{line}` does not begin a request of HTTP/1.0 or HTTP/1.1")]
    RequestLine { line: String },
    #[error("`{line}` is not a header; it is written `name: value`, on one line")]
    Header { line: String },
    #[error("the client has gone ({0})")]
    Gone(#[from] std::io::Error),
}

/// Reads a head, and returns the bytes received after it as well. `None` if the client sent nothing.
pub(super) async fn read(client: &mut (impl AsyncRead + Unpin)) -> Result<Option<(RequestHead, Vec<u8>)>, HeadError> {
    let mut bytes = Vec::new();
    let mut n_scanned = 0;
    loop {
        if let Some(end) = end(&bytes, n_scanned)? {
            let rest = bytes.split_off(end);
            return Ok(Some((RequestHead::parse(&bytes)?, rest)));
        }
        n_scanned = bytes.len();
        if bytes.len() == MAX_BYTES {
            return Err(HeadError::TooLong);
        }
        bytes.reserve(STEP_BYTES);
        let room = (MAX_BYTES - bytes.len()) as u64;
        match (&mut *client).take(room).read_buf(&mut bytes).await? {
            0 if bytes.is_empty() => return Ok(None),
            0 => return Err(HeadError::Gone(std::io::ErrorKind::UnexpectedEof.into())),
            _ => {}
        }
    }
}

/// Returns the end of the head, if complete. Everything before `from` has been examined.
fn end(bytes: &[u8], from: usize) -> Result<Option<usize>, HeadError> {
    for at in from..bytes.len() {
        let follows_return = at > 0 && bytes[at - 1] == b'\r';
        match bytes[at] {
            b'\n' if follows_return && bytes[..=at].ends_with(b"\r\n\r\n") => return Ok(Some(at + 1)),
            b'\n' if follows_return => {}
            b'\n' => return Err(HeadError::LineEnd),
            _ if follows_return => return Err(HeadError::LineEnd),
            b'\r' | b'\t' => {}
            byte if byte.is_ascii_control() => return Err(HeadError::Control { byte }),
            _ => {}
        }
    }
    Ok(None)
}

impl RequestHead {
    /// Parses all lines of a head up to the empty one.
    fn parse(bytes: &[u8]) -> Result<Self, HeadError> {
        let text = bytes.strip_suffix(b"\r\n\r\n").unwrap_or(bytes);
        // CR occurs only at line ends.
        let mut lines = text.split(|&byte| byte == b'\r').map(|line| line.strip_prefix(b"\n").unwrap_or(line));
        let first = lines.next().unwrap_or_default();
        let (method, target, version) =
            request_line(first).ok_or_else(|| HeadError::RequestLine { line: shown(first) })?;
        let mut headers = Vec::new();
        for line in lines {
            if headers.len() == MAX_HEADERS {
                return Err(HeadError::TooMany);
            }
            headers.push(Header::parse(line).ok_or_else(|| HeadError::Header { line: shown(line) })?);
        }
        Ok(Self { method: method.to_owned(), target: target.to_owned(), version, headers })
    }

    /// Returns the values of all headers with this name.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        self.headers.iter().filter(move |header| header.is(name)).map(|header| header.value.as_slice())
    }
}

fn request_line(line: &[u8]) -> Option<(&str, &str, Version)> {
    let mut words = str::from_utf8(line).ok()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let version = match version {
        "HTTP/1.0" => Version::Http10,
        "HTTP/1.1" => Version::Http11,
        _ => return None,
    };
    let is_plain =
        is_token(method.as_bytes()) && !target.is_empty() && target.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && words.next().is_none()).then_some((method, target, version))
}

impl Header {
    fn parse(line: &[u8]) -> Option<Self> {
        let colon = line.iter().position(|&byte| byte == b':')?;
        // A name with a space before its colon, or a continuation line, is not a token.
        let name = str::from_utf8(&line[..colon]).ok().filter(|name| is_token(name.as_bytes()))?;
        Some(Self { name: name.to_owned(), value: line[colon + 1..].trim_ascii().to_owned() })
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

impl Version {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
        }
    }
}

/// True for the characters of methods and header names.
fn is_token(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte))
}

/// Formats the start of a received line.
fn shown(line: &[u8]) -> String {
    const MAX_CHARS: usize = 100;
    String::from_utf8_lossy(line).chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    async fn read_all(mut bytes: &[u8]) -> Result<Option<(RequestHead, Vec<u8>)>, HeadError> {
        read(&mut bytes).await
    }

    #[tokio::test]
    async fn a_head_is_a_request_line_and_headers_and_later_bytes_are_kept() {
        let (head, rest) = read_all(
            b"PUT http://a/b?c HTTP/1.1\r\nHost:a\r\nX-Note: \t caf\xc3\xa9 \xff\t\r\nEmpty:\r\n\r\nbody\r\n\r\n",
        )
        .await
        .unwrap()
        .unwrap();
        assert_eq!(rest, b"body\r\n\r\n");
        assert_eq!(
            (head.method.as_str(), head.target.as_str(), head.version),
            ("PUT", "http://a/b?c", Version::Http11)
        );
        let headers: Vec<_> = head.headers.iter().map(|header| (&*header.name, &*header.value)).collect();
        assert_eq!(headers, [("Host", &b"a"[..]), ("X-Note", b"caf\xc3\xa9 \xff"), ("Empty", b"")]);
        assert_eq!(head.values("HOST").collect::<Vec<_>>(), [b"a"]);
    }

    #[tokio::test]
    async fn a_head_may_come_byte_by_byte() {
        let (mut client, mut server) = tokio::io::duplex(1);
        let writing =
            async { tokio::io::AsyncWriteExt::write_all(&mut client, b"GET / HTTP/1.0\r\nA: b\r\n\r\n").await };
        let (read, written) = tokio::join!(read(&mut server), writing);
        written.unwrap();
        assert_eq!(read.unwrap().unwrap().0.headers[0].value, b"b");
    }

    #[tokio::test]
    async fn an_ambiguous_head_is_refused() {
        let mut text = String::new();
        for bytes in [
            &b"GET / HTTP/1.1\n\n"[..],
            b"GET / HTTP/1.1\r\nA: b\nHost: c\r\n\r\n",
            b"GET / HTTP/1.1\r\nA: b\rHost: c\r\n\r\n",
            b"GET / HTTP/1.1\r\r\nA: b\r\n\r\n",
            b"GET / HTTP/1.1\r\nA: b\0\r\n\r\n",
            b"GET / HTTP/1.1\r\nA: \x1b[1m\r\n\r\n",
            b"GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
            b"GET / HTTP/1.1\r\nA: b\r\n\tc: d\r\n\r\n",
            b"GET / HTTP/1.1\r\n A: b\r\n\r\n",
            b"GET / HTTP/1.1\r\nA : b\r\n\r\n",
            b"GET / HTTP/1.1\r\nA b\r\n\r\n",
            b"GET / HTTP/1.1\r\n: b\r\n\r\n",
            b"GET / HTTP/1.1\r\n\xc3\xa9: b\r\n\r\n",
            b"\r\nGET / HTTP/1.1\r\n\r\n",
            b"GET /\r\n\r\n",
            b"GET  / HTTP/1.1\r\n\r\n",
            b"GET\t/ HTTP/1.1\r\n\r\n",
            b"GET / b HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1 \r\n\r\n",
            b"GET /\xc3\xa9 HTTP/1.1\r\n\r\n",
            b"GET / HTTP/2.0\r\n\r\n",
            b"GET / http/1.1\r\n\r\n",
            b"G(T / HTTP/1.1\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\x16\x03\x01\x02\x00\x01",
            b"\x05\x01\x00",
            b"GET / HTTP/1.1\r\nA: b\r\n",
        ] {
            let error = read_all(bytes).await.unwrap_err();
            text += &format!("{}: {error}\n", bytes.escape_ascii());
        }
        expect![[r#"
            GET / HTTP/1.1\n\n: a line of the request does not end with CR LF, or has a CR in it
            GET / HTTP/1.1\r\nA: b\nHost: c\r\n\r\n: a line of the request does not end with CR LF, or has a CR in it
            GET / HTTP/1.1\r\nA: b\rHost: c\r\n\r\n: a line of the request does not end with CR LF, or has a CR in it
            GET / HTTP/1.1\r\r\nA: b\r\n\r\n: a line of the request does not end with CR LF, or has a CR in it
            GET / HTTP/1.1\r\nA: b\x00\r\n\r\n: the head of the request has the control character 0x00; this is a proxy for http and nothing else
            GET / HTTP/1.1\r\nA: \x1b[1m\r\n\r\n: the head of the request has the control character 0x1b; this is a proxy for http and nothing else
            GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n: ` c` is not a header; it is written `name: value`, on one line
            GET / HTTP/1.1\r\nA: b\r\n\tc: d\r\n\r\n: `	c: d` is not a header; it is written `name: value`, on one line
            GET / HTTP/1.1\r\n A: b\r\n\r\n: ` A: b` is not a header; it is written `name: value`, on one line
            GET / HTTP/1.1\r\nA : b\r\n\r\n: `A : b` is not a header; it is written `name: value`, on one line
            GET / HTTP/1.1\r\nA b\r\n\r\n: `A b` is not a header; it is written `name: value`, on one line
            GET / HTTP/1.1\r\n: b\r\n\r\n: `: b` is not a header; it is written `name: value`, on one line
            GET / HTTP/1.1\r\n\xc3\xa9: b\r\n\r\n: `é: b` is not a header; it is written `name: value`, on one line
            \r\nGET / HTTP/1.1\r\n\r\n: `` does not begin a request of HTTP/1.0 or HTTP/1.1
            GET /\r\n\r\n: `GET /` does not begin a request of HTTP/1.0 or HTTP/1.1
            GET  / HTTP/1.1\r\n\r\n: `GET  / HTTP/1.1` does not begin a request of HTTP/1.0 or HTTP/1.1
            GET\t/ HTTP/1.1\r\n\r\n: `GET	/ HTTP/1.1` does not begin a request of HTTP/1.0 or HTTP/1.1
            GET / b HTTP/1.1\r\n\r\n: `GET / b HTTP/1.1` does not begin a request of HTTP/1.0 or HTTP/1.1
            GET / HTTP/1.1 \r\n\r\n: `GET / HTTP/1.1 ` does not begin a request of HTTP/1.0 or HTTP/1.1
            GET /\xc3\xa9 HTTP/1.1\r\n\r\n: `GET /é HTTP/1.1` does not begin a request of HTTP/1.0 or HTTP/1.1
            GET / HTTP/2.0\r\n\r\n: `GET / HTTP/2.0` does not begin a request of HTTP/1.0 or HTTP/1.1
            GET / http/1.1\r\n\r\n: `GET / http/1.1` does not begin a request of HTTP/1.0 or HTTP/1.1
            G(T / HTTP/1.1\r\n\r\n: `G(T / HTTP/1.1` does not begin a request of HTTP/1.0 or HTTP/1.1
            PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n: `PRI * HTTP/2.0` does not begin a request of HTTP/1.0 or HTTP/1.1
            \x16\x03\x01\x02\x00\x01: the head of the request has the control character 0x16; this is a proxy for http and nothing else
            \x05\x01\x00: the head of the request has the control character 0x05; this is a proxy for http and nothing else
            GET / HTTP/1.1\r\nA: b\r\n: the client has gone (unexpected end of file)
        "#]].assert_eq(&text);
    }

    #[tokio::test]
    async fn a_head_is_bounded_in_bytes_and_in_headers() {
        let padded = |n_bytes: usize| {
            let start = "GET / HTTP/1.1\r\nA: ";
            format!("{start}{}\r\n\r\n", "a".repeat(n_bytes - start.len() - 4))
        };
        assert!(read_all(padded(MAX_BYTES).as_bytes()).await.is_ok());
        assert!(matches!(read_all(padded(MAX_BYTES + 1).as_bytes()).await, Err(HeadError::TooLong)));
        let with_headers = |n_headers: usize| format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(n_headers));
        assert!(read_all(with_headers(MAX_HEADERS).as_bytes()).await.is_ok());
        assert!(matches!(read_all(with_headers(MAX_HEADERS + 1).as_bytes()).await, Err(HeadError::TooMany)));
    }

    #[tokio::test]
    async fn a_client_that_sends_nothing_requests_nothing() {
        assert!(read_all(b"").await.unwrap().is_none());
    }
}
