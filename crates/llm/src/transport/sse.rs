//! Server-sent events from bytes that arrive in pieces of any size.
//!
//! The parser splits lines on bytes, so a piece may end anywhere, also inside a character. An event is its `data` lines
//! joined by line feeds; names are left out, since the wires repeat them inside the payload. An event without its final
//! blank line is never given out.
//!
//! `sse-stream`, which `rmcp` needs, is not used here: it fails on lines that the standard passes over, and it bounds
//! nothing.

/// The most that one event may hold before it counts as nonsense.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseError {
    #[error("an event of the stream is larger than {limit} bytes")]
    TooLong { limit: usize },
    #[error("the stream is not UTF-8")]
    NotUtf8,
}

/// Keeps what is unfinished between one piece and the next.
#[derive(Debug)]
pub(crate) struct SseParser {
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return: a line feed right after it belongs to the same line end.
    after_return: bool,
    first_line: bool,
    limit: usize,
}

impl SseParser {
    pub(crate) fn new() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }

    fn with_limit(limit: usize) -> Self {
        Self { line: Vec::new(), data: Vec::new(), has_data: false, after_return: false, first_line: true, limit }
    }

    /// Takes the next piece and gives out the events that it completed.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<String>, SseError> {
        let mut events = Vec::new();
        if self.after_return && !bytes.is_empty() {
            self.after_return = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.keep(&bytes[..end])?;
            events.extend(self.end_line()?);
            let rest = &bytes[end + 1..];
            bytes = match bytes[end] {
                b'\r' if rest.is_empty() => {
                    self.after_return = true;
                    rest
                }
                b'\r' => rest.strip_prefix(b"\n").unwrap_or(rest),
                _ => rest,
            };
        }
        self.keep(bytes)?;
        Ok(events)
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        if self.line.len() + self.data.len() + bytes.len() > self.limit {
            return Err(SseError::TooLong { limit: self.limit });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<String>, SseError> {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        if field == b"data" {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        Ok(None)
    }

    fn dispatch(&mut self) -> Result<Option<String>, SseError> {
        let data = std::mem::take(&mut self.data);
        if !std::mem::take(&mut self.has_data) {
            return Ok(None);
        }
        String::from_utf8(data).map(Some).map_err(|_| SseError::NotUtf8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(pieces: &[&[u8]]) -> Vec<String> {
        let mut parser = SseParser::new();
        pieces.iter().flat_map(|piece| parser.feed(piece).unwrap()).collect()
    }

    #[test]
    fn streams_are_read_as_the_standard_says() {
        for (stream, expected) in [
            ("data: one\n\ndata: two\n\n", &["one", "two"][..]),
            ("data: one\r\n\r\ndata: two\r\rdata:three\n\n", &["one", "two", "three"]),
            ("event: ping\ndata: first\ndata:  second\n\n", &["first\n second"]),
            (": keep-alive\n\n: another\n\ndata: real\n: between\ndata: lines\n\n", &["real\nlines"]),
            ("event: nothing\nid: 7\nretry: 5\n\n", &[]),
            ("data\n\n", &[""]),
            ("data:\n\n", &[""]),
            ("\u{feff}data: marked\n\n", &["marked"]),
            ("dataset: other\nDATA: other\n\n", &[]),
            ("vendor: x\nevent: a\nevent: b\nretry: soon\ndata: kept\n\n", &["kept"]),
            ("data: unfinished", &[]),
            ("data: unfinished\n", &[]),
        ] {
            assert_eq!(parse(&[stream.as_bytes()]), expected, "{stream:?}");
        }
    }

    #[test]
    fn pieces_may_end_anywhere() {
        let stream = ": hi\r\ndata: grüße 🦀\r\ndata: zwei\r\n\r\ndata: drei\n\ndata: vier\r\r".as_bytes();
        let whole = parse(&[stream]);
        assert_eq!(whole, ["grüße 🦀\nzwei", "drei", "vier"]);
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(parse(&pieces), whole, "cut at {first} and {second}");
            }
        }
        assert_eq!(parse(&stream.chunks(1).collect::<Vec<_>>()), whole);
    }

    #[test]
    fn an_event_cannot_grow_without_bound() {
        let too_long = Err(SseError::TooLong { limit: 16 });
        assert_eq!(SseParser::with_limit(16).feed(b"data: 12345678901234567890"), too_long);

        let mut lines = SseParser::with_limit(16);
        assert_eq!(lines.feed(b"data: 12345\ndata: 12345\n"), Ok(vec![]));
        assert_eq!(lines.feed(b"data: 12345\n"), too_long);

        let mut many = SseParser::with_limit(16);
        for _ in 0..100 {
            assert_eq!(many.feed(b"data: 12345\n\n").unwrap().len(), 1, "the bound is on one event, not on the stream");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_an_error_and_not_replaced() {
        assert_eq!(SseParser::new().feed(b"data: \xff\n\n"), Err(SseError::NotUtf8));
    }
}
