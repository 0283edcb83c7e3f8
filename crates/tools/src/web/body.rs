//! `PageBody`: a response's body, decompressed as it arrives and cut at a maximum size.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use reqwest::Response;
use reqwest::header::CONTENT_ENCODING;
use tokio::time::{Instant, timeout_at};

/// Maximum size of a body, counted after decompression.
pub(crate) const MAX_BODY_BYTES: usize = 5 * 1024 * 1024;

/// A body, or as much of it as arrived.
#[derive(Debug)]
pub(crate) struct PageBody {
    pub(crate) bytes: Vec<u8>,
    pub(crate) end: BodyEnd,
}

/// The end of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyEnd {
    Whole,
    /// More than [`MAX_BODY_BYTES`]. Has the total size if the server gave it.
    Cut {
        n_bytes: Option<u64>,
    },
    /// The time ran out.
    TimedOut,
    Broken {
        reason: String,
    },
}

#[derive(Debug, thiserror::Error)]
#[error("the body is compressed as `{coding}`, which was not requested and cannot be read")]
pub(crate) struct UnknownCoding {
    coding: String,
}

impl PageBody {
    /// Reads until the body ends, is full, breaks off, or the time is over.
    pub(crate) async fn read(mut response: Response, deadline: Instant) -> Result<Self, UnknownCoding> {
        let mut unpacker = Unpacker::new(&response)?;
        let n_announced = response.content_length().filter(|_| matches!(unpacker, Unpacker::Plain(_)));
        let end = loop {
            match timeout_at(deadline, response.chunk()).await {
                Err(_) => break BodyEnd::TimedOut,
                Ok(Err(error)) => {
                    break BodyEnd::Broken { reason: crate::answer::tool_error::explain(&error.without_url()) };
                }
                Ok(Ok(None)) => break unpacker.finish(),
                Ok(Ok(Some(chunk))) => match unpacker.write_all(&chunk) {
                    Ok(()) => {}
                    Err(_) if unpacker.is_full() => break BodyEnd::Cut { n_bytes: n_announced },
                    Err(error) => break BodyEnd::Broken { reason: format!("it cannot be decompressed: {error}") },
                },
            }
        };
        Ok(Self { bytes: unpacker.into_bytes(), end })
    }
}

/// Takes no more than fits; an error means that there was more.
#[derive(Default)]
struct Capped(Vec<u8>);

impl Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n_free = MAX_BODY_BYTES - self.0.len();
        if n_free == 0 && !bytes.is_empty() {
            return Err(io::Error::other("full"));
        }
        let taken = &bytes[..bytes.len().min(n_free)];
        self.0.extend_from_slice(taken);
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Unpacker {
    Plain(Capped),
    Gzip(Box<MultiGzDecoder<Capped>>),
}

impl Unpacker {
    fn new(response: &Response) -> Result<Self, UnknownCoding> {
        let codings = response.headers().get_all(CONTENT_ENCODING).iter();
        let codings: Vec<String> =
            codings.map(|value| String::from_utf8_lossy(value.as_bytes()).trim().to_lowercase()).collect();
        match codings.join(", ").as_str() {
            "" | "identity" => Ok(Self::Plain(Capped::default())),
            "gzip" | "x-gzip" => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(Capped::default())))),
            other => Err(UnknownCoding { coding: super::content::shown_type(other) }),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(capped) => capped.write_all(bytes),
            Self::Gzip(decoder) => decoder.write_all(bytes),
        }
    }

    /// Determines the end of a body after its last byte has arrived.
    fn finish(&mut self) -> BodyEnd {
        match self {
            Self::Plain(_) => BodyEnd::Whole,
            Self::Gzip(decoder) => match decoder.try_finish() {
                Ok(()) => BodyEnd::Whole,
                Err(_) if self.is_full() => BodyEnd::Cut { n_bytes: None },
                Err(error) => BodyEnd::Broken { reason: format!("it cannot be decompressed: {error}") },
            },
        }
    }

    fn is_full(&self) -> bool {
        self.capped().0.len() == MAX_BODY_BYTES
    }

    fn capped(&self) -> &Capped {
        match self {
            Self::Plain(capped) => capped,
            Self::Gzip(decoder) => decoder.get_ref(),
        }
    }

    fn into_bytes(mut self) -> Vec<u8> {
        match &mut self {
            Self::Plain(capped) => std::mem::take(&mut capped.0),
            Self::Gzip(decoder) => {
                // Decompressed but not yet written data; a full or broken body may have none.
                drop(decoder.flush());
                std::mem::take(&mut decoder.get_mut().0)
            }
        }
    }
}
