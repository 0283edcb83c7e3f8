//! Splits a file into its front matter and its prompt.

use std::borrow::Cow;

use crate::definition::files::{MAX_FILE_BYTES, TOO_LARGE};
use crate::front_matter::file_findings::Defect;
use crate::front_matter::keys;

const FENCE: &str = "---";
/// The line on which front matter begins: the one below the first fence.
pub(crate) const FIRST_LINE: usize = 2;

/// A file split into its parts, with `\n` line breaks only.
pub(crate) struct Document {
    pub(crate) front_matter: String,
    /// Without blank lines at either end.
    pub(crate) prompt: String,
    pub(crate) prompt_line: usize,
    pub(crate) line_count: usize,
}

/// Reason why a file was not split.
pub(crate) enum NoDocument {
    /// It does not begin like a definition: just a text in the folder.
    NoFrontMatter,
    Broken(Defect),
}

pub(crate) fn split(bytes: &[u8]) -> Result<Document, NoDocument> {
    let text = text(bytes).map_err(NoDocument::Broken)?;
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some(FENCE) {
        return Err(NoDocument::NoFrontMatter);
    }
    let Some(length) = lines.clone().position(|line| line.trim_end() == FENCE) else {
        let message = "the front matter has no end".to_owned();
        let fix = "put a line `---` between the keys and the prompt";
        return Err(NoDocument::Broken(Defect { line: Some(1), message, fix }));
    };
    let front_matter: String = lines.by_ref().take(length).flat_map(|line| [line, "\n"]).collect();
    let below: Vec<&str> = lines.skip(1).collect();
    let blank = below.iter().take_while(|line| line.trim().is_empty()).count();
    let line_count = text.lines().count();
    Ok(Document {
        front_matter,
        prompt: below[blank..].join("\n").trim_end().to_owned(),
        prompt_line: (FIRST_LINE + length + 1 + blank).min(line_count),
        line_count,
    })
}

/// The name in the front matter, whether or not the rest of the file can be read.
pub(crate) fn claimed_name(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_FILE_BYTES)]);
    let mut lines = text.trim_start_matches('\u{feff}').split(['\n', '\r']).filter(|line| !line.is_empty());
    if lines.next().map(str::trim_end) != Some(FENCE) {
        return None;
    }
    let front_matter = lines.take_while(|line| line.trim_end() != FENCE);
    let mut names = front_matter.filter_map(keys::known_key).filter(|(key, _)| *key == "name");
    let (_, value) = names.next()?;
    let value = value.split_once(" #").map_or(value, |(value, _comment)| value);
    let name = value.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The text of a file, without a byte order mark, and with one kind of line break.
fn text(bytes: &[u8]) -> Result<Cow<'_, str>, Defect> {
    let defect = |line, message, fix| Err(Defect { line, message, fix });
    if bytes.len() > MAX_FILE_BYTES {
        return defect(None, TOO_LARGE.to_owned(), "shorten it, and let the agent read the rest from a file");
    }
    let text = match str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let line = line_of(bytes, error.valid_up_to());
            return defect(Some(line), "not UTF-8".to_owned(), "save the file as UTF-8");
        }
    };
    if let Some(at) = text.find('\0') {
        let line = line_of(text.as_bytes(), at);
        return defect(Some(line), "a NUL byte, as in a binary file".to_owned(), "save the file as plain text");
    }
    if text.contains('\r') {
        return Ok(Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")));
    }
    Ok(Cow::Borrowed(text))
}

/// The line number of the byte at this index.
fn line_of(bytes: &[u8], at: usize) -> usize {
    let ends_line = |&at: &usize| match bytes[at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (0..at).filter(ends_line).count() + 1
}
