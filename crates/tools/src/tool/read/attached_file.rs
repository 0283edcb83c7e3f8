//! `AttachedFile`: an image or a document, returned whole together with a line that describes it.
//!
//! Files that providers would refuse are refused here: a history that held one could never be sent again. The wire
//! decides how to send the file.

use std::io::{self, Read};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sortie_protocol::{Attachment, ToolOutput};

use super::media::Media;
use crate::answer::Answer;
use crate::answer::phrases::grouped;

/// 5 MB in base64, the largest image that every provider accepts. Also applies to documents, since each request of the
/// task carries them again.
const MAX_BYTES: u64 = 3_750_000;
/// Maximum width and height of an image that every provider accepts.
const MAX_SIDE: u32 = 8000;
/// The entry by which a PDF names its encryption.
const ENCRYPTED: &[u8] = b"/Encrypt";

/// An image or a document, read whole.
pub(super) struct AttachedFile {
    media: Media,
    bytes: Vec<u8>,
    /// Description of its type and sizes.
    what: String,
}

impl AttachedFile {
    /// Reads a file that starts like `media` and has `n_bytes`. The inner error says why no model could take it.
    pub(super) fn read(media: Media, reader: &mut impl Read, n_bytes: u64) -> io::Result<Result<Self, String>> {
        let mut bytes = Vec::new();
        if n_bytes <= MAX_BYTES {
            // It may have grown since its size was taken.
            reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        }
        let what = describe(media, &bytes, n_bytes.max(bytes.len() as u64));
        Ok(what.map(|what| Self { media, bytes, what }))
    }

    /// Returns the answer with the file in it, under the name the model requested.
    pub(super) fn give(self, mut answer: Answer, path: &str) -> ToolOutput {
        answer.line(&self.what);
        answer.put_body("content");
        let attachment = Attachment {
            name: answer.name(path),
            media_type: self.media.media_type().to_owned(),
            data: STANDARD.encode(&self.bytes).into(),
        };
        answer.done(format!("{path}: {}", self.what)).with_attachments(vec![attachment])
    }
}

fn describe(media: Media, bytes: &[u8], n_bytes: u64) -> Result<String, String> {
    let (media_type, size) = (media.media_type(), grouped(n_bytes));
    if n_bytes > MAX_BYTES {
        let most = grouped(MAX_BYTES);
        let smaller = if media == Media::Pdf { "a smaller part of it" } else { "a smaller copy" };
        return Err(format!("{media_type} of {size} bytes; models get at most {most}; read {smaller} instead"));
    }
    if media == Media::Pdf {
        // The entry is in clear even if all else is encrypted.
        if bytes.windows(ENCRYPTED.len()).any(|window| window == ENCRYPTED) {
            return Err(format!(
                "{media_type} of {size} bytes, encrypted; models take only documents without a password"
            ));
        }
        return Ok(format!("{media_type}, {size} bytes"));
    }
    match media.dimensions(bytes) {
        None => Err(format!("it starts like {media_type} ({size} bytes), but its header is damaged")),
        Some((width, height)) if width.max(height) > MAX_SIDE => Err(format!(
            "{media_type} of {width}×{height} pixels; models take at most {MAX_SIDE} a side; read a smaller copy instead"
        )),
        Some((width, height)) => Ok(format!("{media_type}, {width}×{height}, {size} bytes")),
    }
}
