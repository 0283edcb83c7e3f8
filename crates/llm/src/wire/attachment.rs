//! Attachments of tool outputs: the files that a wire carries, and text in place of those that it does not.
//!
//! Nothing is dropped silently: the output's text names each file that is left out. Each wire encodes the files in its
//! own way.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use sortie_protocol::{Attachment, CallOutput};

use super::replay::output_text;
use super::{is_blank, support};
use crate::WireKind;

/// A tool's output as a wire sends it.
pub(super) struct Carried<'a> {
    /// The output's text, with a line for each file that is left out. Empty only if there are files instead.
    pub(super) text: Cow<'a, str>,
    /// Files to send, in order.
    pub(super) files: Vec<Media<'a>>,
}

/// A file that a wire supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media<'a> {
    Image(&'a Attachment),
    Document(&'a Attachment),
}

/// A file as a data URL, written straight into the body without an intermediate copy.
pub(super) struct DataUrl<'a>(pub(super) &'a Attachment);

/// Splits an output into the files that `wire` carries and text for the others.
pub(super) fn carried(output: &CallOutput, wire: WireKind) -> Carried<'_> {
    let attachments = &output.output.attachments;
    let said_in_files = !attachments.is_empty() && is_blank(&output.output.for_model);
    let mut text = Cow::Borrowed(if said_in_files { "" } else { output_text(output) });
    let mut files = Vec::new();
    for attachment in attachments {
        if let Some(file) = file(attachment, output.output.failed, wire) {
            files.push(file);
            continue;
        }
        let line_end = if text.is_empty() { "" } else { "\n" };
        let left_out = LeftOut { attachment, failed: output.output.failed, wire };
        text = Cow::Owned(format!("{text}{line_end}{left_out}"));
    }
    Carried { text, files }
}

/// Returns the file as `wire` carries it, in an output that `failed` or not; `None` if it does not.
fn file(attachment: &Attachment, failed: bool, wire: WireKind) -> Option<Media<'_>> {
    let support = support(wire);
    if failed && !support.files_in_failures {
        return None;
    }
    let is_among = |types: &[&str]| types.contains(&attachment.media_type.as_str());
    match attachment {
        // Providers reject empty files.
        empty if empty.data.is_empty() => None,
        image if is_among(support.output_images) => Some(Media::Image(image)),
        document if is_among(support.output_documents) => Some(Media::Document(document)),
        _ => None,
    }
}

/// The line in place of a file that is left out.
struct LeftOut<'a> {
    attachment: &'a Attachment,
    failed: bool,
    wire: WireKind,
}

impl fmt::Display for LeftOut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Attachment { name, media_type, data } = self.attachment;
        let support = support(self.wire);
        let types = [support.output_images, support.output_documents].concat();
        let reason = match types.as_slice() {
            _ if data.is_empty() => "it is empty".to_owned(),
            [] => format!("the wire {} carries text only", self.wire),
            _ if self.failed && !support.files_in_failures => {
                format!("the wire {} carries only text in a failed output", self.wire)
            }
            types => format!("the wire {} carries {}", self.wire, types.join(", ")),
        };
        let size = Size(decoded_bytes(data));
        write!(f, "[attachment {} ({}, {size}) was left out: {reason}]", one_line(name), one_line(media_type))
    }
}

/// Keeps a name from looking like another line of the output; names come from the workspace.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A size in human-readable form.
struct Size(usize);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const KB: usize = 1024;
        const MB: usize = KB * KB;
        match self.0 {
            bytes if bytes < KB => write!(f, "{bytes} bytes"),
            bytes if bytes < MB => write!(f, "{} KB", bytes.div_ceil(KB)),
            bytes => write!(f, "{} MB", bytes.div_ceil(MB)),
        }
    }
}

fn decoded_bytes(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("data:{};base64,{}", self.0.media_type, self.0.data))
    }
}

/// Estimates the tokens of a file for a model that is shown it.
///
/// A picture costs by area and a document by pages, not by bytes. Providers count one to two thousand tokens for a
/// picture or a page. A page has about fifty kilobytes. A file that is not carried is counted too, which errs on the
/// high side.
pub(crate) fn attachment_tokens(attachment: &Attachment) -> usize {
    const TOKENS: usize = 1500;
    const PAGE_BYTES: usize = 50 * 1024;
    let is_document = !attachment.media_type.starts_with("image/");
    let pages = if is_document { decoded_bytes(&attachment.data).div_ceil(PAGE_BYTES) } else { 1 };
    pages * TOKENS
}

#[cfg(test)]
mod tests {
    use sortie_protocol::ToolOutput;

    use super::*;

    fn attachment(name: &str, media_type: &str, base64: &str) -> Attachment {
        Attachment { name: name.to_owned(), media_type: media_type.to_owned(), data: base64.into() }
    }

    fn text(for_model: &str, attachments: &[Attachment], wire: WireKind) -> String {
        let output = ToolOutput::done(for_model, "").with_attachments(attachments.to_vec());
        carried(&CallOutput { call: "c".into(), output }, wire).text.into_owned()
    }

    #[test]
    fn a_file_left_out_is_named_with_its_size_and_the_reason() {
        let kilobytes = "AAAA".repeat(4 * 1024);
        let attachments = [
            attachment("logo.png", "image/png", "iVBORw=="),
            attachment("a\nb.mp4", "video/mp4", &kilobytes),
            attachment("none.png", "image/png", ""),
        ];
        expect_test::expect![[r#"
            Seen.
            [attachment a b.mp4 (video/mp4, 12 KB) was left out: the wire anthropic carries image/png, image/jpeg, image/gif, image/webp, application/pdf]
            [attachment none.png (image/png, 0 bytes) was left out: it is empty]"#]]
        .assert_eq(&text("Seen.", &attachments, WireKind::Anthropic));
        expect_test::expect![[r#"
            [attachment logo.png (image/png, 4 bytes) was left out: the wire openai-chat carries text only]
            [attachment a b.mp4 (video/mp4, 12 KB) was left out: the wire openai-chat carries text only]
            [attachment none.png (image/png, 0 bytes) was left out: it is empty]"#]]
        .assert_eq(&text("", &attachments, WireKind::OpenAiChat));
    }

    #[test]
    fn an_output_of_only_a_picture_has_no_text() {
        let picture = [attachment("logo.png", "image/png", "iVBORw==")];
        assert_eq!(text(" ", &picture, WireKind::Anthropic), "");
        assert_eq!(text(" ", &[], WireKind::Anthropic), "(no output)");
    }

    #[test]
    fn sizes_are_those_of_the_bytes_and_not_of_their_base64() {
        for (base64, bytes) in [("", 0), ("AA==", 1), ("AAA=", 2), ("AAAA", 3), ("AAAAAAA=", 5)] {
            assert_eq!(decoded_bytes(base64), bytes, "{base64}");
        }
        let shown = [Size(1023), Size(1025), Size(5_000_000)].map(|size| size.to_string());
        assert_eq!(shown, ["1023 bytes", "2 KB", "5 MB"]);
    }

    #[test]
    fn files_are_estimated_by_pictures_and_pages() {
        let megabyte = "AAAA".repeat(350_000);
        assert_eq!(attachment_tokens(&attachment("logo.png", "image/png", &megabyte)), 1500);
        assert_eq!(attachment_tokens(&attachment("paper.pdf", "application/pdf", &megabyte)), 21 * 1500);
    }
}
