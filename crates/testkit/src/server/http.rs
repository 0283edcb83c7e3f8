//! The part of HTTP/1.1 that model clients use: one request at a time, bodies by length or in chunks.
//!
//! Written by hand, because a library would not let a fault choose where the bytes break.

use std::io;

use super::connection::Connection;

/// Longest body. No model client sends a longer one.
const MAX_BODY: usize = 64 * 1024 * 1024;
const MAX_HEAD: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// The path, its query included.
    pub(super) target: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl HttpRequest {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// Reads the next request. `None`: the client closed the connection between two requests.
pub(super) async fn read_request(connection: &mut Connection) -> io::Result<Option<HttpRequest>> {
    let Some(end) = find(connection, b"\r\n\r\n", MAX_HEAD).await? else {
        return if connection.arrived().is_empty() { Ok(None) } else { Err(broken("the head is incomplete")) };
    };
    let head = connection.take(end + 4);
    let mut request = parse_head(&head)?;
    if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        connection.send(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    request.body = read_body(connection, &request).await?;
    Ok(Some(request))
}

fn parse_head(head: &[u8]) -> io::Result<HttpRequest> {
    let head = std::str::from_utf8(head).map_err(|_| broken("the head is not UTF-8"))?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version)) = (words.next(), words.next(), words.next()) else {
        return Err(broken("the request line has not three words"));
    };
    if !version.starts_with("HTTP/1.") {
        return Err(broken("the version is not HTTP/1"));
    }
    let headers = lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or_else(|| broken("a header has no colon"))?;
            Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect::<io::Result<_>>()?;
    Ok(HttpRequest { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new() })
}

async fn read_body(connection: &mut Connection, request: &HttpRequest) -> io::Result<Vec<u8>> {
    if request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return read_chunks(connection).await;
    }
    match request.header("content-length") {
        None => Ok(Vec::new()),
        Some(length) => {
            let length = length.parse().map_err(|_| broken("the content length is not a number"))?;
            take_exactly(connection, length).await
        }
    }
}

async fn read_chunks(connection: &mut Connection) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = take_line(connection).await?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| broken("a chunk has no size"))?;
        if size == 0 {
            break;
        }
        if body.len().saturating_add(size) > MAX_BODY {
            return Err(broken("the body is too long"));
        }
        body.append(&mut take_exactly(connection, size).await?);
        take_exactly(connection, 2).await?;
    }
    // Trailers end with an empty line, and mean nothing here.
    while !take_line(connection).await?.is_empty() {}
    Ok(body)
}

async fn take_exactly(connection: &mut Connection, bytes: usize) -> io::Result<Vec<u8>> {
    if bytes > MAX_BODY {
        return Err(broken("the body is too long"));
    }
    while connection.arrived().len() < bytes {
        if !connection.read_more().await? {
            return Err(broken("the body is incomplete"));
        }
    }
    Ok(connection.take(bytes))
}

async fn take_line(connection: &mut Connection) -> io::Result<String> {
    let Some(end) = find(connection, b"\r\n", MAX_HEAD).await? else { return Err(broken("a line is incomplete")) };
    let mut line = connection.take(end + 2);
    line.truncate(end);
    String::from_utf8(line).map_err(|_| broken("a line is not UTF-8"))
}

/// Waits for `mark` and returns its position. `None`: the client closed before that.
async fn find(connection: &mut Connection, mark: &[u8], at_most: usize) -> io::Result<Option<usize>> {
    loop {
        if let Some(at) = connection.arrived().windows(mark.len()).position(|window| window == mark) {
            return Ok(Some(at));
        }
        if connection.arrived().len() > at_most {
            return Err(broken("the head is too long"));
        }
        if !connection.read_more().await? {
            return Ok(None);
        }
    }
}

fn broken(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not a valid HTTP request: {what}"))
}

/// Returns the reason phrase of a status line. Unknown codes have none, which HTTP allows.
pub(super) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Payload Too Large",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        529 => "Overloaded",
        _ => "",
    }
}
