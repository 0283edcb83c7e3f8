//! The answer of a search: matches grouped by file, and a note of everything left out.

use sortie_protocol::ToolOutput;

use super::OutputMode;
use super::objects::Objects;
use super::query::{MAX_CONTEXT_LINES, MAX_HEAP_BYTES, Query};
use super::search::{FileMatches, Line, LineKind, Searched};
use crate::answer::halt::Halt;
use crate::answer::phrases::counted;
use crate::answer::{Answer, MAX_BYTES};
use crate::files::walk::WalkSummary;

pub(super) struct Report<'a> {
    pub(super) query: &'a Query,
    pub(super) glob: Option<&'a str>,
    pub(super) found: &'a WalkSummary,
    pub(super) searched: &'a [Searched],
    pub(super) halt: Option<Halt>,
}

/// The output so far.
#[derive(Default)]
struct Written {
    n_matches: usize,
    n_files: usize,
    cut: Option<Cut>,
    /// Files with several matches of which the objects have only the first.
    n_with_more: usize,
    /// The output as objects, if wanted.
    objects: Option<Objects>,
}

impl Written {
    fn is_full(&self) -> bool {
        self.objects.as_ref().is_some_and(Objects::is_full)
    }
}

/// The reason why the output is incomplete.
#[derive(Clone, Copy)]
enum Cut {
    Limit,
    Size,
}

impl Report<'_> {
    pub(super) fn render(&self, mut answer: Answer) -> ToolOutput {
        let mut written = Written { objects: answer.is_structured().then(Objects::default), ..Written::default() };
        for matches in self.matches() {
            written.cut = self.write_file(&mut answer, matches, &mut written).err();
            if written.cut.is_some() {
                break;
            }
        }
        if let Some(objects) = written.objects.take() {
            answer.put("matches", || objects.into_value());
        }
        if written.n_files == 0 {
            self.note_nothing(&mut answer);
        }
        if let Some(cut) = written.cut {
            let what = match self.query.mode {
                OutputMode::Content => counted(written.n_matches, "match", "matches"),
                OutputMode::FilesWithMatches | OutputMode::Count => counted(written.n_files, "file", "files"),
            };
            answer.note_lack(match cut {
                Cut::Limit => {
                    format!("first {what}; more follow: narrow the pattern, path, glob or type, or raise head_limit")
                }
                Cut::Size => format!(
                    "first {what}, cut at {} KiB: narrow the pattern, path, glob or type, or ask for less context",
                    MAX_BYTES >> 10
                ),
            });
        }
        if written.n_with_more > 0 {
            let files = counted(written.n_with_more, "file has", "files have");
            answer.note(format!("{files} more matches than the first, which is shown; output_mode content shows all"));
        }
        if self.query.is_context_capped && self.query.mode == OutputMode::Content {
            answer.note(format!("at most {MAX_CONTEXT_LINES} lines of context on each side"));
        }
        if let Some(note) = &self.query.type_note {
            answer.note(note);
        }
        self.note_omissions(&mut answer, written.cut.is_some());
        answer.done(self.summary(&written))
    }

    fn matches(&self) -> impl Iterator<Item = &FileMatches> {
        self.searched.iter().filter_map(|searched| match searched {
            Searched::Matches(matches) => Some(&**matches),
            _ => None,
        })
    }

    fn write_file(&self, answer: &mut Answer, matches: &FileMatches, written: &mut Written) -> Result<(), Cut> {
        let path = answer.name(&*matches.path);
        match self.query.mode {
            OutputMode::Content => self.write_lines(answer, &path, &matches.lines, written),
            OutputMode::FilesWithMatches | OutputMode::Count => {
                let count = (self.query.mode == OutputMode::Count).then_some(matches.n_matches);
                let line = count.map_or_else(|| path.clone(), |count| format!("{path}:{count}"));
                if written.n_files == self.query.max_results {
                    return Err(Cut::Limit);
                }
                if written.is_full() || !answer.line(&line) {
                    return Err(Cut::Size);
                }
                written.n_files += 1;
                written.n_matches += matches.n_matches;
                if let Some(objects) = &mut written.objects {
                    objects.add_file(&path, matches, count);
                    written.n_with_more += usize::from(count.is_none() && matches.n_matches > 1);
                }
                Ok(())
            }
        }
    }

    fn write_lines(&self, answer: &mut Answer, path: &str, lines: &[Line], written: &mut Written) -> Result<(), Cut> {
        let shown = first_matches(lines, self.query.max_results - written.n_matches);
        let mut heading = if written.n_files > 0 { format!("\n{path}\n") } else { format!("{path}\n") };
        if let Some(objects) = &mut written.objects {
            objects.begin(path);
        }
        for line in shown {
            let text = match line {
                Line::Gap => "--".to_owned(),
                Line::Text { text, .. } if !self.query.line_numbers => text.clone(),
                Line::Text { number, kind: LineKind::Context, text } => format!("{number}-{text}"),
                Line::Text { number, text, .. } => format!("{number}:{text}"),
            };
            // The heading goes with the first line, so that it never stands alone.
            if written.is_full() || !answer.line(&format!("{heading}{text}")) {
                return Err(Cut::Size);
            }
            written.n_files += usize::from(!heading.is_empty());
            written.n_matches += usize::from(is_match(line));
            heading.clear();
            if let Some(objects) = &mut written.objects {
                objects.add(line);
            }
        }
        if shown.len() == lines.len() { Ok(()) } else { Err(Cut::Limit) }
    }

    fn note_nothing(&self, answer: &mut Answer) {
        let n_searched = self.searched.iter().filter(|searched| matches!(searched, Searched::NoMatch)).count();
        if self.found.n_wanted == 0 && self.query.has_filter() && self.found.n_files > 0 {
            answer.note(format!(
                "no match: the glob or type fits none of {}",
                counted(self.found.n_files, "file", "files")
            ));
        } else {
            answer.note(format!("no match in {}", counted(n_searched, "file", "files")));
        }
    }

    /// A cut answer says nothing about files it may not have reached: their number depends on chance.
    fn note_omissions(&self, answer: &mut Answer, is_cut: bool) {
        answer.note_halt(self.halt);
        if is_cut {
            return;
        }
        let count = |wanted: fn(&Searched) -> bool| self.searched.iter().filter(|searched| wanted(searched)).count();
        let too_long =
            format!("skipped: a line with its context (or a multiline file) over {} KiB", MAX_HEAP_BYTES >> 10);
        let n_binary = count(|searched| matches!(searched, Searched::Binary));
        if n_binary > 0 {
            answer.note(format!("{} skipped", counted(n_binary, "binary file", "binary files")));
        }
        let lacks = [
            (count(|searched| matches!(searched, Searched::Unreadable)), "could not be read"),
            (count(|searched| matches!(searched, Searched::TooLong)), too_long.as_str()),
        ];
        for (count, what) in lacks {
            if count > 0 {
                answer.note_lack(format!("{} {what}", counted(count, "file", "files")));
            }
        }
        if let Some(glob) = self.glob {
            self.found.note_git(glob, answer);
        }
        self.found.note_omissions(answer);
    }

    fn summary(&self, written: &Written) -> String {
        let files = counted(written.n_files, "file", "files");
        match (written.n_files, self.query.mode) {
            (0, _) => "no match".to_owned(),
            (_, OutputMode::FilesWithMatches) => {
                format!("{}{files}", if written.cut.is_some() { "first " } else { "" })
            }
            _ => {
                let first = if written.cut.is_some() { "first " } else { "" };
                format!("{first}{} in {files}", counted(written.n_matches, "match", "matches"))
            }
        }
    }
}

/// Returns the lines of the first `n_matches` matches, with their context.
fn first_matches(lines: &[Line], n_matches: usize) -> &[Line] {
    let mut starts = lines.iter().enumerate().filter(|(_, line)| is_match(line));
    let Some((next, _)) = starts.nth(n_matches) else { return lines };
    // Context of the next match only is not shown.
    let end = lines[..next].iter().rposition(|line| is_match(line) || matches!(line, Line::Gap));
    match end {
        Some(gap) if matches!(lines[gap], Line::Gap) => &lines[..gap],
        Some(_) => &lines[..next],
        None => &[],
    }
}

fn is_match(line: &Line) -> bool {
    matches!(line, Line::Text { kind: LineKind::Match, .. })
}
