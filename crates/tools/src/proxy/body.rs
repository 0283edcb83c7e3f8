//! The body of a request: exactly the bytes that belong to it.
//!
//! An unjudged second request after it never reaches the server.

use std::io::{self, ErrorKind};

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy_buf};

/// Maximum length of a line between chunks.
const MAX_LINE_BYTES: usize = 4 << 10;

/// Maximum number of lines after the last chunk; they are dropped.
const MAX_TRAILERS: usize = 100;

/// The end of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Empty,
    Length(u64),
    Chunked,
}

/// Forwards a body. An error if it ends too early or is badly framed; the server then has not seen its end.
pub(super) async fn send<R, W>(framing: Framing, from: &mut R, to: &mut W) -> io::Result<()>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    match framing {
        Framing::Empty => Ok(()),
        Framing::Length(n_bytes) => exactly(n_bytes, from, to).await,
        Framing::Chunked => chunks(from, to).await,
    }
}

async fn exactly<R, W>(n_bytes: u64, from: &mut R, to: &mut W) -> io::Result<()>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let n_sent = copy_buf(&mut (&mut *from).take(n_bytes), to).await?;
    if n_sent == n_bytes { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// Frames chunks anew, so that no server can read the frames differently.
async fn chunks<R, W>(from: &mut R, to: &mut W) -> io::Result<()>
where
    R: AsyncBufRead + Unpin,
    W: AsyncWrite + Unpin,
{
    loop {
        let n_bytes = chunk_size(&line(from).await?).ok_or(ErrorKind::InvalidData)?;
        if n_bytes == 0 {
            break;
        }
        to.write_all(format!("{n_bytes:x}\r\n").as_bytes()).await?;
        exactly(n_bytes, from, to).await?;
        if !line(from).await?.is_empty() {
            return Err(ErrorKind::InvalidData.into());
        }
        to.write_all(b"\r\n").await?;
    }
    for _ in 0..=MAX_TRAILERS {
        if line(from).await?.is_empty() {
            return to.write_all(b"0\r\n\r\n").await;
        }
    }
    Err(ErrorKind::InvalidData.into())
}

/// Reads a line without its end.
async fn line(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    (&mut *from).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line).await?;
    let text = line.strip_suffix(b"\r\n").filter(|text| !text.iter().any(|byte| b"\r\n\0".contains(byte)));
    text.map(<[u8]>::to_vec).ok_or_else(|| ErrorKind::InvalidData.into())
}

/// Returns the size from the line before a chunk. Drops its extensions.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let text = str::from_utf8(line).ok()?;
    let digits = text.split_once(';').map_or(text, |(digits, _)| digits.trim_end_matches([' ', '\t']));
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(digits, 16).ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn sent(framing: Framing, mut bytes: &[u8]) -> (Result<(), ErrorKind>, String, String) {
        let mut server = Vec::new();
        let ended = send(framing, &mut bytes, &mut server).await.map_err(|error| error.kind());
        (ended, String::from_utf8(server).unwrap(), String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_body_ends_where_it_says() {
        for (framing, bytes, body, rest) in [
            (Framing::Empty, "GET", "", "GET"),
            (Framing::Length(0), "GET", "", "GET"),
            (Framing::Length(4), "bodyGET", "body", "GET"),
            (Framing::Chunked, "0\r\n\r\nGET", "0\r\n\r\n", "GET"),
            (Framing::Chunked, "4\r\nbo\r\n\r\n0\r\n\r\nGET", "4\r\nbo\r\n\r\n0\r\n\r\n", "GET"),
            (
                Framing::Chunked,
                "000A ; a=\"b\"\r\n0123456789\r\n0;c\r\nX: y\r\n\r\nGET",
                "a\r\n0123456789\r\n0\r\n\r\n",
                "GET",
            ),
        ] {
            assert_eq!(sent(framing, bytes.as_bytes()).await, (Ok(()), body.to_owned(), rest.to_owned()), "{bytes:?}");
        }
    }

    #[tokio::test]
    async fn a_body_that_is_cut_off_or_framed_wrongly_never_looks_whole() {
        let trailers = format!("0\r\n{}\r\n", "A: b\r\n".repeat(MAX_TRAILERS + 1));
        let long = format!("1;{}\r\na\r\n0\r\n\r\n", "a".repeat(MAX_LINE_BYTES));
        for (framing, bytes) in [
            (Framing::Length(5), "body"),
            (Framing::Chunked, ""),
            (Framing::Chunked, "4\r\nbo"),
            (Framing::Chunked, "4\r\nbody\r\n"),
            (Framing::Chunked, "4\r\nbody\r\n0\r\n"),
            (Framing::Chunked, "3\r\nbody\r\n0\r\n\r\n"),
            (Framing::Chunked, "4\nbody\r\n0\r\n\r\n"),
            (Framing::Chunked, "4\r\nbody\n0\r\n\r\n"),
            (Framing::Chunked, "4 4\r\nbody\r\n0\r\n\r\n"),
            (Framing::Chunked, "+4\r\nbody\r\n0\r\n\r\n"),
            (Framing::Chunked, "0x4\r\nbody\r\n0\r\n\r\n"),
            (Framing::Chunked, "-0\r\n\r\n"),
            (Framing::Chunked, "\r\n\r\n"),
            (Framing::Chunked, "4;a\rb\r\nbody\r\n0\r\n\r\n"),
            (Framing::Chunked, "10000000000000000\r\nbody\r\n0\r\n\r\n"),
            (Framing::Chunked, &trailers),
            (Framing::Chunked, &long),
        ] {
            let (ended, body, _) = sent(framing, bytes.as_bytes()).await;
            assert!(ended.is_err() && !body.ends_with("0\r\n\r\n"), "{bytes:?}: {ended:?} {body:?}");
        }
    }
}
