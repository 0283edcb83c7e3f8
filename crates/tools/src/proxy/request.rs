//! `Request`: the host by which a request is judged, and the head to forward.
//!
//! Host, framing and `Connection` are written anew, so that the server cannot read them differently. All other headers
//! for the server are forwarded.

use super::body::Framing;
use super::request_head::{Header, RequestHead, Version};
use crate::web::target::Target;

/// A longer authority is not a name.
const MAX_AUTHORITY_BYTES: usize = 260;

const HTTP_PORT: u16 = 80;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    /// Only host and port.
    pub(super) target: Target,
    pub(super) way: Way,
}

/// The way to reach the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    Tunnel,
    Plain { head: Vec<u8>, framing: Framing },
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum RequestError {
    #[error(
        "`{given}` is not a request to a proxy; ask for a whole URL that begins with http://, or CONNECT to host:port"
    )]
    NotAProxyRequest { given: String },
    #[error("`{given}` is not a host and port")]
    Authority { given: String },
    #[error("the header `host` says `{said}`, but the request is for `{host}`")]
    OtherHost { said: String, host: String },
    #[error("the header `{name}` is there more than once")]
    Repeated { name: &'static str },
    #[error("`{given}` is not the length of a body")]
    Length { given: String },
    #[error("`{given}` is not a coding that is passed on; a body is sent `chunked` in HTTP/1.1, or with a length")]
    Coding { given: String },
    #[error("the request gives the length of its body in two ways")]
    TwoLengths,
    #[error("a CONNECT request has no body")]
    TunnelBody,
}

impl Request {
    pub(super) fn new(head: &RequestHead) -> Result<Self, RequestError> {
        let framing = framing(head)?;
        if head.method == "CONNECT" {
            let target = authority(&head.target, None)?;
            check_host(head, &target)?;
            return match framing {
                Framing::Empty | Framing::Length(0) => Ok(Self { target, way: Way::Tunnel }),
                Framing::Length(_) | Framing::Chunked => Err(RequestError::TunnelBody),
            };
        }
        let (host, path) = parts(&head.target)
            .ok_or_else(|| RequestError::NotAProxyRequest { given: head.target.chars().take(100).collect() })?;
        let target = authority(host, Some(HTTP_PORT))?;
        check_host(head, &target)?;
        let head = sent_on(head, &target, path, framing);
        Ok(Self { target, way: Way::Plain { head, framing } })
    }
}

/// Splits an `http` URL into its host and the rest.
fn parts(url: &str) -> Option<(&str, &str)> {
    const SCHEME: &str = "http://";
    let is_http = url.get(..SCHEME.len()).is_some_and(|start| start.eq_ignore_ascii_case(SCHEME));
    let rest = url.get(SCHEME.len()..).filter(|_| is_http && !url.contains('#'))?;
    Some(rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len())))
}

/// Reads `host:port`. The port may be omitted only if there is a default.
fn authority(text: &str, default_port: Option<u16>) -> Result<Target, RequestError> {
    plain_target(text, default_port).ok_or_else(|| RequestError::Authority { given: text.chars().take(100).collect() })
}

/// Accepts only plain names and addresses: nothing that a URL parser would have to decode or could misread.
fn plain_target(text: &str, default_port: Option<u16>) -> Option<Target> {
    let brackets_end = text.find(']').map_or(0, |at| at + 1);
    let host_end = text[brackets_end..].find(':').map_or(text.len(), |at| brackets_end + at);
    let (host, port) = text.split_at(host_end);
    let is_plain = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.bytes().all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte)),
        None => host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)),
    };
    if !is_plain || host.is_empty() || text.len() > MAX_AUTHORITY_BYTES {
        return None;
    }
    let port: u16 = match port.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        Some(_) => return None,
        None => default_port?,
    };
    Target::parse(&format!("http://{host}:{port}/")).ok().filter(|_| port > 0)
}

/// Refuses a `Host` header that differs from the request's host.
fn check_host(head: &RequestHead, target: &Target) -> Result<(), RequestError> {
    let Some(said) = only(head, "host")? else { return Ok(()) };
    match authority(&said, Some(target.port())) {
        Ok(same) if same == *target => Ok(()),
        _ => Err(RequestError::OtherHost { said: said.chars().take(100).collect(), host: target.host().to_owned() }),
    }
}

fn framing(head: &RequestHead) -> Result<Framing, RequestError> {
    let (length, coding) = (only(head, "content-length")?, only(head, "transfer-encoding")?);
    match (length, coding) {
        (None, None) => Ok(Framing::Empty),
        (Some(_), Some(_)) => Err(RequestError::TwoLengths),
        (Some(given), None) => {
            let is_plain = given.bytes().all(|byte| byte.is_ascii_digit());
            given.parse().ok().filter(|_| is_plain).map(Framing::Length).ok_or(RequestError::Length { given })
        }
        (None, Some(given)) => {
            let is_known = given.eq_ignore_ascii_case("chunked") && head.version == Version::Http11;
            if is_known { Ok(Framing::Chunked) } else { Err(RequestError::Coding { given }) }
        }
    }
}

/// Returns the value of a header that may occur only once.
fn only(head: &RequestHead, name: &'static str) -> Result<Option<String>, RequestError> {
    let mut values = head.values(name);
    let value = values.next().map(|value| String::from_utf8_lossy(value).into_owned());
    if values.next().is_some() { Err(RequestError::Repeated { name }) } else { Ok(value) }
}

/// Builds the head for the server.
fn sent_on(head: &RequestHead, target: &Target, path: &str, framing: Framing) -> Vec<u8> {
    let root = if path.starts_with('/') { "" } else { "/" };
    let host = match target.port() {
        HTTP_PORT => target.host().to_owned(),
        port => format!("{}:{port}", target.host()),
    };
    let mut sent = format!("{} {root}{path} {}\r\nHost: {host}\r\n", head.method, head.version.text()).into_bytes();
    let between: Vec<String> = head.values("connection").flat_map(named).collect();
    for header in head.headers.iter().filter(|header| !is_between(header, &between)) {
        sent.extend([header.name.as_bytes(), b": ", &header.value, b"\r\n"].concat());
    }
    match framing {
        Framing::Empty => {}
        Framing::Length(n_bytes) => sent.extend(format!("Content-Length: {n_bytes}\r\n").bytes()),
        Framing::Chunked => sent.extend(b"Transfer-Encoding: chunked\r\n"),
    }
    sent.extend(b"Connection: close\r\n\r\n");
    sent
}

/// Returns the headers named by a `Connection` header.
fn named(value: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(value).split(',').map(|name| name.trim().to_ascii_lowercase()).collect()
}

/// True if a header is only between client and proxy, or written by the proxy itself.
fn is_between(header: &Header, named: &[String]) -> bool {
    const BETWEEN: [&str; 8] =
        ["connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"];
    let name = header.name.to_ascii_lowercase();
    BETWEEN.contains(&name.as_str()) || name.starts_with("proxy-") || named.contains(&name)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn head(line: &str, headers: &[(&str, &str)]) -> RequestHead {
        let mut words = line.split(' ').map(str::to_owned);
        let header = |&(name, value): &(&str, &str)| Header { name: name.to_owned(), value: value.into() };
        RequestHead {
            method: words.next().unwrap(),
            target: words.next().unwrap(),
            version: if words.next().as_deref() == Some("1.0") { Version::Http10 } else { Version::Http11 },
            headers: headers.iter().map(header).collect(),
        }
    }

    fn sent(line: &str, headers: &[(&str, &str)]) -> String {
        match Request::new(&head(line, headers)).unwrap().way {
            Way::Plain { head, .. } => String::from_utf8(head).unwrap().replace('\r', ""),
            Way::Tunnel => panic!("a tunnel"),
        }
    }

    #[test]
    fn the_host_is_read_in_its_canonical_form() {
        for (line, host, port) in [
            ("CONNECT Example.com:443", "example.com", 443),
            ("CONNECT example.com.:8443", "example.com", 8443),
            ("CONNECT [::1]:443", "[::1]", 443),
            ("CONNECT [0:0::1]:443", "[::1]", 443),
            ("CONNECT 127.1:443", "127.0.0.1", 443),
            ("CONNECT 0x7f000001:443", "127.0.0.1", 443),
            ("CONNECT my_host:1", "my_host", 1),
            ("GET http://example.com", "example.com", 80),
            ("GET HTTP://example.com:8080/a", "example.com", 8080),
            ("GET http://example.com?a@evil.com/", "example.com", 80),
            ("GET http://[::1]:81/", "[::1]", 81),
        ] {
            let request = Request::new(&head(line, &[])).unwrap();
            assert_eq!((request.target.host(), request.target.port()), (host, port), "{line}");
        }
    }

    #[test]
    fn anything_but_a_plain_request_for_one_host_is_refused() {
        let mut text = String::new();
        for line in [
            "GET /",
            "OPTIONS *",
            "GET https://example.com/",
            "GET ftp://example.com/",
            "GET http:/example.com/",
            "GET example.com:80",
            "GET http://",
            "GET http:///a",
            "GET http://a:/",
            "GET http://a:b/",
            "GET http://a:+1/",
            "GET http://a:0/",
            "GET http://a:65536/",
            "GET http://user@a/",
            "GET http://user:80@a/",
            "GET http://a\\@b/",
            "GET http://a%2eb/",
            "GET http://a#b",
            "GET http://a..b/",
            "GET http://[::1/",
            "GET http://[::1]a/",
            "GET http://[a.example]/",
            "GET http://1.2.3.4.5/",
            "CONNECT a",
            "CONNECT :443",
            "CONNECT a:443/",
            "CONNECT http://a:443",
            "CONNECT user@a:443",
            "CONNECT [::1%25lo]:443",
            "CONNECT ::1:443",
        ] {
            text += &format!("{line}: {}\n", Request::new(&head(line, &[])).unwrap_err());
        }
        let long = format!("CONNECT {}:443", "a.".repeat(200));
        assert!(matches!(Request::new(&head(&long, &[])), Err(RequestError::Authority { .. })));
        expect![[r#"
            GET /: `/` is not a request to a proxy; ask for a whole URL that begins with http://, or CONNECT to host:port
            OPTIONS *: `*` is not a request to a proxy; ask for a whole URL that begins with http://, or CONNECT to host:port
            GET https://example.com/: `https://example.com/` is not a request to a proxy; ask for a whole URL that begins with http://, or CONNECT to host:port
            GET ftp://example.com/: `ftp://example.com/` is not a request to a proxy; ask for a whole URL that begins with http://, or CONNECT to host:port
            GET http:/example.com/: `http:/example.com/` is not a request to a proxy; ask for a whole URL that begins with http://, or CONNECT to host:port
            GET example.com:80: `example.com:80` is not a request to a proxy; ask for a whole URL that begins with http://, or CONNECT to host:port
            GET http://: `` is not a host and port
            GET http:///a: `` is not a host and port
            GET http://a:/: `a:` is not a host and port
            GET http://a:b/: `a:b` is not a host and port
            GET http://a:+1/: `a:+1` is not a host and port
            GET http://a:0/: `a:0` is not a host and port
            GET http://a:65536/: `a:65536` is not a host and port
            GET http://user@a/: `user@a` is not a host and port
            GET http://user:80@a/: `user:80@a` is not a host and port
            GET http://a\@b/: `a\@b` is not a host and port
            GET http://a%2eb/: `a%2eb` is not a host and port
            GET http://a#b: `http://a#b` is not a request to a proxy; ask for a whole URL that begins with http://, or CONNECT to host:port
            GET http://a..b/: `a..b` is not a host and port
            GET http://[::1/: `[::1` is not a host and port
            GET http://[::1]a/: `[::1]a` is not a host and port
            GET http://[a.example]/: `[a.example]` is not a host and port
            GET http://1.2.3.4.5/: `1.2.3.4.5` is not a host and port
            CONNECT a: `a` is not a host and port
            CONNECT :443: `:443` is not a host and port
            CONNECT a:443/: `a:443/` is not a host and port
            CONNECT http://a:443: `http://a:443` is not a host and port
            CONNECT user@a:443: `user@a:443` is not a host and port
            CONNECT [::1%25lo]:443: `[::1%25lo]:443` is not a host and port
            CONNECT ::1:443: `::1:443` is not a host and port
        "#]].assert_eq(&text);
    }

    #[test]
    fn a_host_header_must_name_the_judged_host() {
        for (line, said, fits) in [
            ("GET http://a.example/", "a.example", true),
            ("GET http://a.example/", "A.example.:80", true),
            ("GET http://a.example:81/", "a.example:81", true),
            ("GET http://a.example:81/", "a.example", true),
            ("GET http://a.example/", "a.example:81", false),
            ("GET http://a.example/", "b.example", false),
            ("GET http://a.example/", "a.example, b.example", false),
            ("GET http://a.example/", "", false),
            ("CONNECT a.example:443", "a.example:443", true),
            ("CONNECT a.example:443", "a.example", true),
            ("CONNECT a.example:443", "b.example:443", false),
        ] {
            assert_eq!(Request::new(&head(line, &[("Host", said)])).is_ok(), fits, "{line} {said}");
        }
        let twice = head("GET http://a.example/", &[("Host", "a.example"), ("host", "a.example")]);
        assert_eq!(Request::new(&twice), Err(RequestError::Repeated { name: "host" }));
    }

    #[test]
    fn a_body_has_one_length() {
        let post = |version: &str, headers: &[(&str, &str)]| match Request::new(&head(
            &format!("POST http://a/ {version}"),
            headers,
        ))
        .map(|request| request.way)
        {
            Ok(Way::Plain { framing, .. }) => Ok(framing),
            Ok(Way::Tunnel) => panic!("a tunnel"),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(post("1.1", &[]), Ok(Framing::Empty));
        assert_eq!(post("1.0", &[("Content-Length", "12")]), Ok(Framing::Length(12)));
        assert_eq!(post("1.1", &[("transfer-encoding", "Chunked")]), Ok(Framing::Chunked));
        let mut text = String::new();
        for (version, headers) in [
            ("1.1", &[("Content-Length", "5"), ("content-length", "5")][..]),
            ("1.1", &[("Content-Length", "5"), ("Transfer-Encoding", "chunked")]),
            ("1.1", &[("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "identity")]),
            ("1.1", &[("Transfer-Encoding", "gzip, chunked")]),
            ("1.1", &[("Transfer-Encoding", "xchunked")]),
            ("1.0", &[("Transfer-Encoding", "chunked")]),
            ("1.1", &[("Content-Length", "5, 5")]),
            ("1.1", &[("Content-Length", "+5")]),
            ("1.1", &[("Content-Length", "0x5")]),
            ("1.1", &[("Content-Length", "")]),
            ("1.1", &[("Content-Length", "18446744073709551616")]),
        ] {
            text += &format!("{}\n", post(version, headers).unwrap_err());
        }
        expect![[r#"
            the header `content-length` is there more than once
            the request gives the length of its body in two ways
            the header `transfer-encoding` is there more than once
            `gzip, chunked` is not a coding that is passed on; a body is sent `chunked` in HTTP/1.1, or with a length
            `xchunked` is not a coding that is passed on; a body is sent `chunked` in HTTP/1.1, or with a length
            `chunked` is not a coding that is passed on; a body is sent `chunked` in HTTP/1.1, or with a length
            `5, 5` is not the length of a body
            `+5` is not the length of a body
            `0x5` is not the length of a body
            `` is not the length of a body
            `18446744073709551616` is not the length of a body
        "#]]
        .assert_eq(&text);
        let with_body = head("CONNECT a:443", &[("Content-Length", "5")]);
        assert_eq!(Request::new(&with_body), Err(RequestError::TunnelBody));
    }

    #[test]
    fn the_server_gets_a_path_and_nothing_meant_for_the_proxy() {
        let headers = [
            ("Host", "a.example:8080"),
            ("User-Agent", "test"),
            ("Proxy-Authorization", "Basic c2VjcmV0"),
            ("Proxy-Connection", "keep-alive"),
            ("Connection", "keep-alive, X-Hop, Content-Length"),
            ("X-Hop", "1"),
            ("Upgrade", "h2c"),
            ("TE", "trailers"),
            ("Keep-Alive", "timeout=5"),
            ("Content-Length", "3"),
            ("Accept", "*/*"),
        ];
        expect![[r#"
            POST /x/../y?q=%20//z HTTP/1.1
            Host: a.example:8080
            User-Agent: test
            Accept: */*
            Content-Length: 3
            Connection: close

        "#]]
        .assert_eq(&sent("POST http://a.example:8080/x/../y?q=%20//z", &headers));
        expect![[r#"
            GET /?q HTTP/1.0
            Host: a.example
            Connection: close

        "#]]
        .assert_eq(&sent("GET http://a.example?q 1.0", &[]));
    }
}
