//! The media type of a body, its character encoding, and its text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::markdown::Syntax;
use crate::files::encoding::BINARY_PROBE_BYTES;

/// Bytes searched for a text's own declaration of its encoding.
const PROBE_BYTES: usize = 1024;

/// The type of content that a server declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MediaType {
    /// Lower case, without parameters; empty if the server declares none.
    essence: String,
    charset: Option<&'static Encoding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Html,
    /// Returned verbatim.
    Text,
}

/// A text, and the losses of decoding it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) encoding: &'static str,
    /// True if some bytes were invalid in that encoding.
    pub(crate) is_lossy: bool,
}

impl MediaType {
    pub(crate) fn parse(header: Option<&[u8]>) -> Self {
        let header = String::from_utf8_lossy(header.unwrap_or_default());
        let mut parts = header.split(';');
        let essence = shown_type(parts.next().unwrap_or_default().trim());
        let charset = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let value = value.trim().trim_matches(['"', '\'']);
            name.trim().eq_ignore_ascii_case("charset").then(|| Encoding::for_label(value.as_bytes()))?
        });
        Self { essence, charset }
    }

    /// The type for display.
    pub(crate) fn name(&self) -> &str {
        if self.essence.is_empty() { "no content type" } else { &self.essence }
    }

    /// True if the type does not determine the kind of body; then only the body itself can.
    pub(crate) fn is_unspecific(&self) -> bool {
        matches!(self.essence.as_str(), "" | "application/octet-stream" | "binary/octet-stream")
    }

    /// The syntax for reading tags.
    pub(crate) fn syntax(&self) -> Syntax {
        if self.essence == "application/xhtml+xml" { Syntax::Xml } else { Syntax::Html }
    }

    /// Returns the form the type implies, or a possible form if it implies none; `None` if that is not text.
    pub(crate) fn form(&self) -> Option<Form> {
        const TEXTS: &[&str] = &[
            "application/ecmascript",
            "application/graphql",
            "application/javascript",
            "application/json",
            "application/json-seq",
            "application/json5",
            "application/jsonl",
            "application/jsonlines",
            "application/ndjson",
            "application/sql",
            "application/toml",
            "application/x-httpd-php",
            "application/x-javascript",
            "application/x-jsonlines",
            "application/x-latex",
            "application/x-ndjson",
            "application/x-pem-file",
            "application/x-perl",
            "application/x-python",
            "application/x-ruby",
            "application/x-sh",
            "application/x-shellscript",
            "application/x-tex",
            "application/x-toml",
            "application/x-yaml",
            "application/xml",
            "application/yaml",
            "message/rfc822",
        ];
        match self.essence.as_str() {
            "text/html" | "application/xhtml+xml" => Some(Form::Html),
            essence if self.is_unspecific() || essence.starts_with("text/") || TEXTS.contains(&essence) => {
                Some(Form::Text)
            }
            essence => ["+json", "+xml", "+yaml"].iter().any(|end| essence.ends_with(end)).then_some(Form::Text),
        }
    }

    /// Returns the form of a body, examining the text if the server declares no type; `None` if it is not text.
    pub(crate) fn form_of(&self, text: &str) -> Option<Form> {
        let start = text.trim_start().get(..14).unwrap_or_default().to_ascii_lowercase();
        let is_html = self.essence.is_empty() && (start.starts_with("<!doctype html") || start.starts_with("<html"));
        let probe = &text.as_bytes()[..text.len().min(BINARY_PROBE_BYTES)];
        if probe.contains(&0) {
            return None;
        }
        if is_html { Some(Form::Html) } else { self.form() }
    }

    /// Decodes a body by its byte order mark, the server's declaration, its own declaration, or as UTF-8, in this
    /// order. A page without any of these that is not UTF-8 is read as browsers read it.
    pub(crate) fn decode<'a>(&self, bytes: &'a [u8]) -> Decoded<'a> {
        let own = || declared(&bytes[..bytes.len().min(PROBE_BYTES)]);
        let encoding = self.charset.or_else(own).unwrap_or(UTF_8);
        let (text, used, is_lossy) = encoding.decode(bytes);
        let is_guess = encoding == UTF_8 && used == UTF_8 && self.charset.is_none() && own().is_none();
        if is_lossy && is_guess && self.form() == Some(Form::Html) && !is_cut_short(bytes) {
            let (text, ..) = WINDOWS_1252.decode(bytes);
            return Decoded { text, encoding: WINDOWS_1252.name(), is_lossy: false };
        }
        Decoded { text, encoding: used.name(), is_lossy: is_lossy && !is_cut_short(bytes) }
    }
}

/// True if a text is UTF-8 except for an incomplete character at its end.
fn is_cut_short(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Returns the encoding declared at the start of a page or XML text.
fn declared(start: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let after_name = if start.trim_start().starts_with("<?xml") {
        let declaration = start.split("?>").next().unwrap_or_default();
        declaration.split_once("encoding")?.1
    } else {
        let tag = start.match_indices("<meta").find_map(|(at, _)| {
            let tag = start[at..].split('>').next().unwrap_or_default();
            tag.split_once("charset")
        });
        tag?.1
    };
    let value = after_name.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = value.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.+".contains(c))).unwrap_or(value.len());
    // A text whose declaration could be read is not UTF-16.
    Encoding::for_label(&value.as_bytes()[..end]).map(Encoding::output_encoding)
}

/// Formats a type or coding from a server, reduced to the characters of such names.
pub(crate) fn shown_type(text: &str) -> String {
    const MAX_CHARS: usize = 100;
    let kept = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+/, ".contains(c);
    text.chars().map(|c| if kept(c) { c.to_ascii_lowercase() } else { '?' }).take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<'a>(header: &str, bytes: &'a [u8]) -> (Cow<'a, str>, &'static str, bool) {
        let decoded = MediaType::parse(Some(header.as_bytes())).decode(bytes);
        (decoded.text, decoded.encoding, decoded.is_lossy)
    }

    #[test]
    fn a_text_is_decoded_in_its_encoding() {
        for (header, bytes, encoding) in [
            ("text/plain", "é".as_bytes(), "UTF-8"),
            ("text/plain; charset=iso-8859-1", b"\xe9", "windows-1252"),
            ("text/plain; format=flowed; Charset=\"ISO-8859-15\"", b"\xe9", "ISO-8859-15"),
            ("text/plain; charset=latin1", b"\xef\xbb\xbf\xc3\xa9", "UTF-8"),
            ("text/plain; charset=utf-16le", b"\xe9\0", "UTF-16LE"),
            ("text/plain", b"\xfe\xff\0\xe9", "UTF-16BE"),
        ] {
            assert_eq!(text(header, bytes), ("é".into(), encoding, false), "{header}");
        }
        let page = b"<meta charset=windows-1251><p>\xe4\xe0";
        assert!(text("text/html", page).0.ends_with("да"));
        let page = b"<META http-equiv='Content-Type' content='text/html; charset=Shift_JIS'><p>\x93\xfa";
        assert!(text("text/html", page).0.ends_with('日'));
        let xml = b"<?xml version='1.0' encoding='koi8-r'?><a>\xc4\xc1</a>";
        assert!(text("application/xml", xml).0.ends_with("да</a>"));
        let page = b"<p>caf\xe9 \x80";
        assert_eq!(text("text/html", page), ("<p>café €".into(), "windows-1252", false));
        assert_eq!(text("text/html", b"<meta charset=utf-16><p>x").1, "UTF-8");
    }

    #[test]
    fn bytes_invalid_in_the_encoding_are_reported() {
        assert_eq!(text("text/plain", b"a\xffb"), ("a\u{fffd}b".into(), "UTF-8", true));
        assert_eq!(text("text/html; charset=utf-8", b"a\xffb"), ("a\u{fffd}b".into(), "UTF-8", true));
        assert!(!text("text/html", "é".as_bytes().split_last().unwrap().1).2, "the body was cut there");
    }

    #[test]
    fn only_texts_are_accepted() {
        for (header, form) in [
            ("text/html; charset=utf-8", Some(Form::Html)),
            ("TEXT/HTML", Some(Form::Html)),
            ("application/xhtml+xml", Some(Form::Html)),
            ("text/markdown", Some(Form::Text)),
            ("application/json", Some(Form::Text)),
            ("application/vnd.api+json", Some(Form::Text)),
            ("application/rss+xml; charset=x", Some(Form::Text)),
            ("image/svg+xml", Some(Form::Text)),
            ("", Some(Form::Text)),
            ("image/png", None),
            ("application/pdf", None),
            ("application/octet-stream", Some(Form::Text)),
            ("application/jsonl", Some(Form::Text)),
            ("application/x-shellscript", Some(Form::Text)),
            ("application/zip", None),
            ("application/jsonx", None),
            ("nonsense", None),
        ] {
            assert_eq!(MediaType::parse(Some(header.as_bytes())).form(), form, "{header}");
        }
        let unknown = MediaType::parse(None);
        assert_eq!(unknown.form_of(" <!DOCTYPE HTML><p>x"), Some(Form::Html));
        assert_eq!(unknown.form_of("plain"), Some(Form::Text));
        assert_eq!(unknown.form_of("a\0b"), None);
        assert_eq!(MediaType::parse(Some(b"text/html")).form_of("a\0b"), None);
    }
}
