//! `Query`: the arguments of a search, checked and compiled once.

use std::path::Path;

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use ignore::types::{Types, TypesBuilder};
use sortie_protocol::nearest;

use super::search::Searched;
use super::{GrepInput, OutputMode};
use crate::answer::AnswerForm;
use crate::files::globs;
use crate::files::globs::Globs;

const DEFAULT_RESULTS: usize = 250;
pub(super) const MAX_CONTEXT_LINES: u64 = 50;
const MAX_PATTERN_BYTES: usize = 4096;
/// Maximum size of a compiled pattern, so that a small one cannot become a huge machine.
const MAX_REGEX_BYTES: usize = 1024 * 1024;
/// Maximum size of a line with its context, or in multi-line searches of a file. One match costs up to this many bytes
/// times the pattern's size, and nothing interrupts it: seconds, with these two bounds.
pub(super) const MAX_HEAP_BYTES: usize = 256 * 1024;

#[expect(clippy::struct_excessive_bools, reason = "switches that are independent and read by name")]
pub(super) struct Query {
    pub(super) matcher: RegexMatcher,
    pub(super) mode: OutputMode,
    pub(super) line_numbers: bool,
    /// Matches in content mode, otherwise files. `usize::MAX` means that only the answer's size is limited.
    pub(super) max_results: usize,
    pub(super) is_context_capped: bool,
    /// A note about an unknown type.
    pub(super) type_note: Option<String>,
    /// True if matches are wanted as objects, which have a line in every mode.
    pub(super) structured: bool,
    multiline: bool,
    before: usize,
    after: usize,
    globs: Option<Globs>,
    types: Option<Types>,
}

impl Query {
    /// The error is worded for the model.
    pub(super) fn new(input: &GrepInput, form: AnswerForm) -> Result<Self, String> {
        let context_lines = [input.after, input.before, input.around];
        let mode = match input.output_mode {
            Some(mode) => mode,
            // A caller that requests the lines around a match wants to see the match.
            None if context_lines.iter().any(Option::is_some) => OutputMode::Content,
            None => OutputMode::FilesWithMatches,
        };
        let multiline = input.multiline.unwrap_or(false);
        let context = |side: Option<u64>| match mode {
            OutputMode::Content => side.or(input.around).unwrap_or(0).min(MAX_CONTEXT_LINES) as usize,
            OutputMode::FilesWithMatches | OutputMode::Count => 0,
        };
        let max_results = match input.head_limit {
            None => DEFAULT_RESULTS,
            Some(0) => usize::MAX,
            Some(limit) => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let (types, type_note) = input.file_type.as_deref().map(types).transpose()?.unzip();
        Ok(Self {
            matcher: matcher(&input.pattern, input.ignore_case.unwrap_or(false), multiline)?,
            mode,
            line_numbers: input.line_numbers.unwrap_or(true),
            max_results,
            is_context_capped: context_lines.iter().flatten().any(|&lines| lines > MAX_CONTEXT_LINES),
            type_note: type_note.flatten(),
            structured: form == AnswerForm::Object,
            multiline,
            before: context(input.before),
            after: context(input.after),
            globs: input.glob.as_deref().map(|text| Globs::new(&globs::split(text))).transpose()?,
            types,
        })
    }

    pub(super) fn has_filter(&self) -> bool {
        self.globs.is_some() || self.types.is_some()
    }

    /// True if a file is to be searched. A glob may be relative to the root or to the start of the search.
    pub(super) fn admits(&self, from_root: &Path, from_base: &Path) -> bool {
        self.globs.as_ref().is_none_or(|globs| globs.admit(&[from_root, from_base]))
            && self.types.as_ref().is_none_or(|types| types.matched(from_root, false).is_whitelist())
    }

    pub(super) fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            // Binary files are recognised by their start, as in Read; a later NUL does not hide the rest of a text.
            .binary_detection(BinaryDetection::none())
            .heap_limit(Some(MAX_HEAP_BYTES))
            .multi_line(self.multiline)
            .line_terminator(LineTerminator::crlf())
            .line_number(self.structured || (self.mode == OutputMode::Content && self.line_numbers))
            .before_context(self.before)
            .after_context(self.after)
            .build()
    }

    /// Counts a file's matches towards the limit.
    pub(super) fn n_results(&self, searched: &Searched) -> usize {
        match self.mode {
            OutputMode::Content => searched.n_matches(),
            OutputMode::FilesWithMatches | OutputMode::Count => usize::from(searched.n_matches() > 0),
        }
    }
}

fn matcher(pattern: &str, ignore_case: bool, multiline: bool) -> Result<RegexMatcher, String> {
    if pattern.is_empty() {
        return Err("the pattern is empty".to_owned());
    }
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(format!("the pattern has {} bytes, at most {MAX_PATTERN_BYTES} are allowed", pattern.len()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(ignore_case)
        .dot_matches_new_line(multiline)
        .size_limit(MAX_REGEX_BYTES)
        .dfa_size_limit(MAX_REGEX_BYTES);
    // In both modes `$` also matches before `\r\n`.
    builder.crlf(true);
    if multiline {
        builder.line_terminator(None);
    }
    builder.build(pattern).map_err(|error| regex_problem(pattern, &error.to_string()))
}

fn regex_problem(pattern: &str, reason: &str) -> String {
    let hint = if reason.contains("\"\\n\"") || reason.contains("\"\\r\"") {
        "set multiline to match across lines"
    } else if reason.contains("look-around") || reason.contains("backreference") {
        "look-around and backreferences are not supported; search for less and read the matches"
    } else if reason.contains("size limit") {
        "use a simpler pattern; repeated \\w or \\S are large, [a-z0-9_] is small"
    } else if pattern.contains('{') {
        "to match a literal { write \\{"
    } else {
        "to match special characters literally put \\ before them"
    };
    format!("the pattern is not a valid regex. {}\n{hint}", reason.trim_end())
}

/// Returns the files of a type. An unknown name is taken as an extension, with a note.
fn types(name: &str) -> Result<(Types, Option<String>), String> {
    const MAX_NAME_BYTES: usize = 40;
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    builder.select(name);
    if let Ok(types) = builder.build() {
        return Ok((types, None));
    }
    let suggestion = nearest(name, builder.definitions().iter().map(ignore::types::FileTypeDef::name))
        .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    let is_ending = name.len() <= MAX_NAME_BYTES && builder.add(name, &format!("*.{name}")).is_ok();
    match builder.build() {
        Ok(types) if is_ending => Ok((types, Some(format!("no type `{name}`, so *.{name} was searched{suggestion}")))),
        _ => Err(format!("there is no such file type{suggestion}; use glob")),
    }
}
