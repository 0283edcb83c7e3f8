//! Lines of a stream, bounded in memory. Reading can be aborted at any time without loss.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// A stream, line by line.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// The part of the current line read so far.
    line: Vec<u8>,
    most: usize,
    /// True while skipping the rest of an overlong line.
    skips: bool,
}

/// Next input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<T> {
    Read(T),
    /// It was skipped, or will be with the next call.
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, most: usize) -> Self {
        Self { input: BufReader::with_capacity(64 << 10, input), line: Vec::new(), most, skips: false }
    }

    /// Returns the next non-blank line without its end, as parsed by `read`; `None` at the end of the stream. A last
    /// line without a line end also counts.
    pub(super) async fn next<T>(&mut self, read: impl Fn(&[u8]) -> T) -> io::Result<Option<Line<T>>> {
        loop {
            // There is no await between this and `consume`: everything taken is in `line`.
            let there = self.input.fill_buf().await?;
            if there.is_empty() {
                let rest = std::mem::take(&mut self.line);
                let rest = rest.trim_ascii();
                return Ok((!rest.is_empty()).then(|| Line::Read(read(rest))));
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(there.len(), |end| end + 1);
            let was_skipping = self.skips;
            let is_too_long = !was_skipping && self.line.len() + end.unwrap_or(taken) > self.most;
            if is_too_long {
                self.line = Vec::new();
            } else if !was_skipping {
                self.line.extend_from_slice(&there[..end.unwrap_or(taken)]);
            }
            self.skips = (was_skipping || is_too_long) && end.is_none();
            self.input.consume(taken);
            if is_too_long {
                return Ok(Some(Line::TooLong));
            }
            if end.is_some() && !was_skipping {
                // The buffer of one long line must not be kept for good.
                let line = std::mem::take(&mut self.line);
                let line = line.trim_ascii();
                if !line.is_empty() {
                    return Ok(Some(Line::Read(read(line))));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &str, most: usize) -> Vec<Line<String>> {
        let mut lines = Lines::new(text.as_bytes(), most);
        let mut found = Vec::new();
        while let Some(line) = lines.next(|line| String::from_utf8_lossy(line).into_owned()).await.unwrap() {
            found.push(line);
        }
        found
    }

    fn read(text: &str) -> Line<String> {
        Line::Read(text.to_owned())
    }

    #[tokio::test]
    async fn lines_arrive_one_by_one_without_blank_ones() {
        assert_eq!(all("a\n\r\n \nb\r\n", 10).await, [read("a"), read("b")]);
    }

    #[tokio::test]
    async fn an_overlong_line_is_reported_once_and_the_next_one_is_read() {
        let text = format!("{}\nshort\n", "x".repeat(200_000));
        assert_eq!(all(&text, 5).await, [Line::TooLong, read("short")]);
        assert_eq!(all("123456\n12345\n", 5).await, [Line::TooLong, read("12345")]);
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end() {
        assert_eq!(all("a\nlast", 10).await, [read("a"), read("last")]);
        assert_eq!(all("a\n \t", 10).await, [read("a")]);
        assert_eq!(all("a\n123456", 5).await, [read("a"), Line::TooLong]);
    }
}
