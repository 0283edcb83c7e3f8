//! Features of each wire: one table of plain data.
//!
//! It describes the wire as spoken here, not everything that a provider can do. Encoders read their media types from
//! it, tests compare the rest with the bytes that are really sent, and `docs/wires.md` is written from it.

use crate::WireKind;

const PNG: &str = "image/png";
const JPEG: &str = "image/jpeg";
const GIF: &str = "image/gif";
const WEBP: &str = "image/webp";
const HEIC: &str = "image/heic";
const HEIF: &str = "image/heif";
const PDF: &str = "application/pdf";

/// Features of one wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table, not a state")]
pub struct Support {
    /// Media types of images in a tool's output; empty if outputs are text only.
    pub output_images: &'static [&'static str],
    /// Media types of documents in a tool's output.
    pub output_documents: &'static [&'static str],
    /// A failed output is marked as such. Otherwise its text says so.
    pub failure_mark: bool,
    /// A failed output may include files.
    pub files_in_failures: bool,
    /// A reply may have several calls.
    pub parallel_calls: bool,
    /// Calls can be forbidden while the tools stay in the request.
    pub tool_choice_none: bool,
    /// Reasoning goes back to the model that wrote it.
    pub reasoning_replayed: bool,
    /// Parts of the reasoning are sealed: signed or encrypted by the provider, which checks them when they come back.
    pub reasoning_sealed: bool,
    /// The request marks the prefix to be cached; otherwise the provider finds it by itself.
    pub cache_marks: bool,
    /// The stream ends with the call's usage.
    pub usage_in_stream: bool,
}

/// Returns the row of a wire.
pub fn support(kind: WireKind) -> Support {
    let everything = Support {
        output_images: &[PNG, JPEG, GIF, WEBP],
        output_documents: &[PDF],
        failure_mark: true,
        files_in_failures: true,
        parallel_calls: true,
        tool_choice_none: true,
        reasoning_replayed: true,
        reasoning_sealed: true,
        cache_marks: true,
        usage_in_stream: true,
    };
    match kind {
        WireKind::Anthropic => Support { files_in_failures: false, ..everything },
        WireKind::Gemini => Support { output_images: &[PNG, JPEG, WEBP, HEIC, HEIF], cache_marks: false, ..everything },
        WireKind::OpenAiChat => Support {
            output_images: &[],
            output_documents: &[],
            failure_mark: false,
            files_in_failures: false,
            reasoning_sealed: false,
            cache_marks: false,
            ..everything
        },
        WireKind::OpenAiResponses => Support { failure_mark: false, cache_marks: false, ..everything },
    }
}
