//! `Read`: returns a text file page by page with line numbers, or an image or PDF whole.
//!
//! It never holds more than a page of a text, however large the file or its lines, and always notes what the page
//! leaves out. Images and documents are returned whole within a size limit, or not at all.

mod attached_file;
mod keeping_reader;
mod media;
mod page;

use std::fs::File;
use std::io::{self, BufRead, BufReader};

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Fault, Resource, ToolOutput};
use sortie_sandbox::{Stamp, Workspace};

use self::attached_file::AttachedFile;
use self::keeping_reader::KeepingReader;
use self::media::Media;
use self::page::{Lines, MAX_LINE_CHARS, Page, PageEnd};
use crate::answer::Answer;
use crate::answer::arguments::{Unknown, optional_count};
use crate::answer::halt::{Halt, Stop};
use crate::answer::phrases::counted;
use crate::answer::tool_error::ToolError;
use crate::call::context::{CallContext, path_resource};
use crate::call::typed_tool::TypedTool;
use crate::files::access_advice::with_advice;
use crate::files::blocking;
use crate::files::encoding::BINARY_PROBE_BYTES;
use crate::files::interruptible::Interruptible;
use crate::files::read_state::Seen;

const DEFAULT_LINES: u64 = 2000;

pub(crate) struct Read;

#[derive(Deserialize)]
pub(crate) struct ReadInput {
    #[serde(alias = "path")]
    file_path: String,
    #[serde(default, deserialize_with = "optional_count")]
    offset: Option<u64>,
    #[serde(default, deserialize_with = "optional_count")]
    limit: Option<u64>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for Read {
    type Input = ReadInput;

    const NAME: &'static str = "Read";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "Read a text a page at a time, each line as number, tab, text; an image or PDF whole. Paths are relative to the \
         workspace or absolute."
            .to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string"},
                "offset": {"type": "integer", "description": "first line, counted from 1"},
                "limit": {"type": "integer", "description": "lines, default 2000"},
            },
            "required": ["file_path"],
        })
    }

    fn resource(&self, input: &Self::Input, context: CallContext<'_>) -> Resource {
        path_resource(&input.file_path, context)
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let (workspace, seen) = (context.workspace.clone(), context.seen.clone());
        let answer = context.answer();
        blocking::run(context.cancel, move |stop| read(answer, &workspace, &seen, &input, stop)).await
    }
}

fn read(mut answer: Answer, workspace: &Workspace, seen: &Seen, input: &ReadInput, stop: &Stop) -> ToolOutput {
    answer.note_unknown(&input.unknown);
    let file = match workspace.open_file(&input.file_path) {
        Ok(file) => file,
        Err(error) => return answer.failed(&with_advice(workspace, &input.file_path, error)),
    };
    if answer.is_structured()
        && let Ok(resolved) = workspace.resolve(&input.file_path)
    {
        answer.resolved(&resolved.relative);
    }
    // Some models write zero for "from the start" and "no limit".
    let first = input.offset.unwrap_or(1).max(1);
    let limit = input.limit.filter(|&limit| limit > 0).unwrap_or(DEFAULT_LINES);
    let mut page = Page::default();
    match read_content(file, Lines { first, limit }, stop, &mut page, &mut answer) {
        Ok(Content::Text { end, stamp, whole }) => {
            answer.is_page();
            let output = render(answer, input, first, &page, &end);
            if !output.failed
                && let Ok(path) = workspace.locate(&input.file_path)
            {
                seen.record(path, stamp, whole);
            }
            output
        }
        Ok(Content::Whole(whole)) => {
            if input.offset.is_some() || input.limit.is_some() {
                answer.note("offset and limit do not apply: the file is returned whole");
            }
            whole.give(answer, &input.file_path)
        }
        Ok(Content::Refused { reason }) => {
            let text = format!("`{}` was not read: {reason}", input.file_path);
            answer.failed(&ToolError::new(Fault::Binary, text))
        }
        Err(error) => {
            let reason = stop.halt().map_or_else(|| error.to_string(), Halt::note);
            let place = if page.last > 0 { format!(" beyond line {}", page.last) } else { String::new() };
            let fault = (stop.halt() == Some(Halt::TimedOut)).then_some(Fault::TimedOut);
            answer.failed(&ToolError::new(fault, format!("`{}` could not be read{place}: {reason}", input.file_path)))
        }
    }
}

enum Content {
    /// A page of it is in the answer, and this is what follows. If small, all of it is there.
    Text {
        end: PageEnd,
        stamp: Stamp,
        whole: Option<Vec<u8>>,
    },
    Whole(AttachedFile),
    Refused {
        reason: String,
    },
}

/// Reads what a model gets: a page of a text, or all of an image or document.
fn read_content(file: File, lines: Lines, stop: &Stop, page: &mut Page, answer: &mut Answer) -> io::Result<Content> {
    let stamp = Stamp::of(&file)?;
    let n_bytes = stamp.size;
    let mut reader = BufReader::with_capacity(64 * 1024, KeepingReader::new(Interruptible::new(file, stop)));
    let start = reader.fill_buf()?;
    if let Some(media) = Media::of(start) {
        let whole = AttachedFile::read(media, &mut reader, n_bytes)?;
        return Ok(whole.map_or_else(|reason| Content::Refused { reason }, Content::Whole));
    }
    let probe = &start[..start.len().min(BINARY_PROBE_BYTES)];
    let reason = if probe.starts_with(b"\xff\xfe") || probe.starts_with(b"\xfe\xff") {
        format!("it looks like UTF-16 text ({n_bytes} bytes), and only UTF-8 is known")
    } else if let Some(at) = probe.iter().position(|&byte| byte == 0) {
        format!(
            "it is binary ({n_bytes} bytes, a NUL at byte {at}); only text, PNG, JPEG, GIF, WebP and PDF can be read"
        )
    } else {
        let end = page.read(&mut reader, lines, n_bytes, answer)?;
        return Ok(Content::Text { end, stamp, whole: reader.into_inner().whole(n_bytes) });
    };
    Ok(Content::Refused { reason })
}

fn render(mut answer: Answer, input: &ReadInput, first: u64, page: &Page, end: &PageEnd) -> ToolOutput {
    let (path, last) = (&input.file_path, page.last);
    answer.put_body("content");
    let of_total = match *end {
        PageEnd::Past { n_lines: 0 } if first == 1 => {
            answer.note("the file is empty");
            return answer.done(format!("{path}: empty"));
        }
        PageEnd::Past { n_lines } => {
            return answer.failed(&ToolError::arguments(format!(
                "`{path}` has {}; offset {first} is past its end",
                counted(usize::try_from(n_lines).unwrap_or(usize::MAX), "line", "lines")
            )));
        }
        PageEnd::Last => {
            if first > 1 {
                answer.note(format!("lines {first}-{last} of {last}"));
            }
            format!(" of {last}")
        }
        PageEnd::More { n_lines } => {
            let total = n_lines.map_or_else(String::new, |n_lines| format!(" of {n_lines}"));
            let note = format!("lines {first}-{last}{total}; continue with offset {}", last + 1);
            // A caller that requested this many lines and got them lacks nothing.
            let is_as_asked = input.limit.is_some_and(|limit| limit > 0 && last + 1 - first == limit);
            if is_as_asked {
                answer.note(note);
            } else {
                answer.note_lack(note);
            }
            total
        }
        PageEnd::Endless { n_bytes } => {
            answer
                .note_lack(format!("line {last} has no end within {n_bytes} bytes; what follows it was not looked at"));
            String::new()
        }
    };
    if page.n_cut > 0 {
        answer.note_lack(format!("{} cut at {MAX_LINE_CHARS} characters", counted(page.n_cut, "line", "lines")));
    }
    if page.n_invalid > 0 {
        answer.note(format!("not UTF-8 in {}, shown as \u{fffd}", counted(page.n_invalid, "line", "lines")));
    }
    match (page.n_crlf, page.n_lf) {
        (0, _) => {}
        (_, 0) => answer.note("lines end with CRLF"),
        (n_crlf, _) => answer.note(format!("{n_crlf} of these lines end with CRLF, the others with LF")),
    }
    if page.has_mark {
        answer.note("a byte order mark at the start is not shown; edits keep it");
    }
    answer.done(format!("{path}: lines {first}-{last}{of_total}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_read_that_takes_too_long_says_how_far_it_got() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("huge");
        std::fs::write(&file, "x\n".repeat(8192)).unwrap();
        File::options().write(true).open(&file).unwrap().set_len(1 << 40).unwrap();
        let workspace = Workspace::open(directory.path()).unwrap();
        let input = serde_json::from_str(r#"{"file_path": "huge", "offset": 1000000}"#).unwrap();
        let output =
            read(Answer::default(), &workspace, &Seen::default(), &input, &Stop::after(Duration::from_millis(100)));
        let expected = "`huge` could not be read beyond line 8192: stopped after 20 s; narrow the request";
        assert_eq!(output.for_model, expected);
    }
}
