//! Passages of a file: each is one definition with its documentation and its body.
//!
//! The splitter works on whole files and on outlines with gaps. It derives structure from indentation. It believes that
//! a definition encloses a line only if an end before the line would have been seen.

use std::collections::BTreeMap;

use super::syntax::{Definition, LineKind, Syntax, indent};

/// A piece of a file that is about one thing.
#[derive(Debug)]
pub(crate) struct Passage<'a> {
    pub(crate) path: &'a str,
    /// The definition and the number of its first line; `None` for text outside all definitions.
    pub(crate) definition: Option<(usize, Definition)>,
    /// Labels of the definitions around this one, outermost first.
    pub(crate) parents: Vec<String>,
    /// Lines seen, in order; documentation comes before the definition's own line.
    pub(crate) lines: Vec<Line<'a>>,
    /// Approximate number of its lines in the file, seen or not.
    pub(crate) span: usize,
    pub(crate) in_tests: bool,
    /// True if its documentation was seen from the first line on.
    pub(crate) documented_from_top: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) text: &'a str,
    pub(crate) role: LineRole,
}

/// Role of a line in its passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineRole {
    /// Documentation of the definition.
    Doc,
    /// The definition's own first line.
    Head,
    Body,
    Comment,
    Import,
}

impl Passage<'_> {
    /// Returns the line to point at: the definition's, else the first one seen.
    pub(crate) fn first_line(&self) -> usize {
        match &self.definition {
            Some((line, _)) => *line,
            None => self.lines.first().map_or(1, |line| line.number),
        }
    }
}

/// The lines of a file that were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// All lines of its structure, and others.
    Outline,
    /// Any lines; nothing is known of the others.
    Parts,
}

/// Splits one file. An outlined one shows all lines of its structure, even if others between them were not seen.
pub(crate) fn passages<'a>(path: &'a str, lines: &'a BTreeMap<usize, String>, view: View) -> Vec<Passage<'a>> {
    let mut cutter = Cutter {
        path,
        syntax: Syntax::of(path),
        view,
        torn: false,
        open: Vec::new(),
        waiting: Vec::new(),
        waiting_from_top: false,
        previous: 0,
        done: Vec::new(),
    };
    for (&number, text) in lines {
        if number != cutter.previous + 1 {
            cutter.forget_unsure();
        }
        cutter.take(number, text);
        cutter.previous = number;
    }
    cutter.finish()
}

struct Cutter<'a> {
    path: &'a str,
    syntax: &'static Syntax,
    view: View,
    /// True if lines before the current one are missing, and nothing is known of them.
    torn: bool,
    /// Definitions around the current line, with their indentation.
    open: Vec<(usize, String)>,
    /// Documentation waiting for its definition.
    waiting: Vec<(usize, &'a str)>,
    /// True if the line before the first waiting one was also seen.
    waiting_from_top: bool,
    /// Number of the previous line seen.
    previous: usize,
    done: Vec<Passage<'a>>,
}

impl<'a> Cutter<'a> {
    fn take(&mut self, number: usize, text: &'a str) {
        let kind = self.syntax.line_kind(text);
        if kind == LineKind::Blank {
            return;
        }
        if let Some(definition) = self.syntax.definition(text) {
            self.begin(number, text, definition);
            return;
        }
        let depth = indent(text);
        let outside = self.open.last().map_or(!self.done.is_empty(), |(open, _)| depth <= *open);
        match kind {
            LineKind::Doc => self.wait(number, text),
            // A comment no deeper than the definition before it belongs to the one after it.
            LineKind::Comment if outside => self.wait(number, text),
            _ => {
                self.give_up_waiting();
                if outside && !continues(text) {
                    self.close_to(depth);
                }
                let closes = text.trim_start().starts_with('}');
                if !self.is_current() && !closes {
                    self.push_passage(None, Vec::new());
                }
                if self.is_current() {
                    self.add(number, text, role(kind));
                }
                if closes && !text.trim_end().ends_with('{') {
                    self.close_to(depth);
                }
            }
        }
    }

    /// Drops the definitions that may have ended in a gap.
    fn forget_unsure(&mut self) {
        let (outlined, syntax) = (self.view == View::Outline, self.syntax);
        self.open.retain(|(depth, _)| outlined && syntax.ends_are_shown(*depth));
        self.torn = !outlined;
    }

    /// True if the current passage is in the definitions that are open now.
    fn is_current(&self) -> bool {
        let Some(passage) = self.done.last().filter(|_| !self.torn) else { return false };
        let own = passage.definition.iter().map(|(_, own)| label(own));
        passage.parents.iter().cloned().chain(own).eq(self.open.iter().map(|(_, label)| label.clone()))
    }

    fn wait(&mut self, number: usize, text: &'a str) {
        if self.waiting.is_empty() {
            self.waiting_from_top = self.previous + 1 == number;
        }
        self.waiting.push((number, text));
    }

    fn begin(&mut self, number: usize, text: &'a str, definition: Definition) {
        let depth = indent(text);
        let (docs, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.waiting).into_iter().partition(|(_, doc)| indent(doc) == depth);
        for (number, text) in others {
            self.add(number, text, LineRole::Comment);
        }
        self.close_to(depth);
        let label = label(&definition);
        self.push_passage(Some((number, definition)), docs);
        self.add(number, text, LineRole::Head);
        if self.syntax.goes_on(text) {
            self.open.push((depth, label));
        }
    }

    /// Closes the definitions that a line at this depth is no longer part of.
    fn close_to(&mut self, depth: usize) {
        self.open.retain(|(open, _)| *open < depth);
    }

    fn push_passage(&mut self, definition: Option<(usize, Definition)>, docs: Vec<(usize, &'a str)>) {
        let parents: Vec<String> = self.open.iter().map(|(_, label)| label.clone()).collect();
        let tested = docs.iter().any(|(_, doc)| doc.contains("#[test") || doc.contains("::test]"));
        let name = definition.as_ref().map(|(_, definition)| definition.name.as_str()).unwrap_or_default();
        let in_tests = tested
            || is_test_name(name)
            || parents.iter().any(|parent| is_test_name(parent.rsplit(' ').next().unwrap_or_default()));
        let lines = docs.into_iter().map(|(number, text)| Line { number, text, role: LineRole::Doc }).collect();
        let documented_from_top = self.waiting_from_top;
        self.torn = false;
        self.done.push(Passage { path: self.path, definition, parents, lines, span: 1, in_tests, documented_from_top });
    }

    fn add(&mut self, number: usize, text: &'a str, role: LineRole) {
        if self.done.is_empty() {
            self.push_passage(None, Vec::new());
        }
        if let Some(passage) = self.done.last_mut() {
            passage.lines.push(Line { number, text, role });
        }
    }

    fn give_up_waiting(&mut self) {
        for (number, text) in std::mem::take(&mut self.waiting) {
            self.add(number, text, LineRole::Comment);
        }
    }

    fn finish(mut self) -> Vec<Passage<'a>> {
        self.give_up_waiting();
        let starts: Vec<usize> =
            self.done.iter().map(|passage| passage.lines.first().map_or(0, |line| line.number)).collect();
        for (at, passage) in self.done.iter_mut().enumerate() {
            let last = passage.lines.last().map_or(0, |line| line.number + 1);
            let end = starts.get(at + 1).copied().unwrap_or(last);
            passage.span = end.saturating_sub(starts[at]).max(1);
        }
        self.done.retain(|passage| !passage.lines.is_empty());
        self.done
    }
}

fn role(kind: LineKind) -> LineRole {
    match kind {
        LineKind::Import => LineRole::Import,
        LineKind::Comment | LineKind::Doc => LineRole::Comment,
        LineKind::Code | LineKind::Blank => LineRole::Body,
    }
}

/// True if a line at a definition's own depth still belongs to it: closers, and signatures over several lines.
fn continues(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with([')', '}', ']', '{', '>']) || text.starts_with("where") || text.starts_with("else")
}

/// Returns a short label of a definition: `fn parse`, `impl Iterator for Lines`.
pub(crate) fn label(definition: &Definition) -> String {
    match definition.keyword {
        "" | "#" | "##" | "###" | "####" => definition.name.clone(),
        keyword => format!("{keyword} {}", definition.name),
    }
}

fn is_test_name(name: &str) -> bool {
    matches!(name, "test" | "tests") || name.starts_with("test_") || name.starts_with("Test")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source_code::location::describe;

    fn cut(path: &str, text: &str) -> Vec<String> {
        let lines: BTreeMap<usize, String> = (1..).zip(text.lines().map(str::to_owned)).collect();
        passages(path, &lines, View::Parts)
            .iter()
            .map(|passage| {
                let label = passage.definition.as_ref().map_or("-".to_owned(), |(_, found)| label(found));
                let docs = passage.lines.iter().filter(|line| line.role == LineRole::Doc).count();
                format!("{} | {label} | docs {docs} | lines {}", passage.parents.join(" > "), passage.lines.len())
            })
            .collect()
    }

    #[test]
    fn documentation_belongs_to_the_definition_below_it() {
        let text =
            "//! About.\n\n/// Opens.\n#[inline]\nfn open() {\n    // why\n    go();\n}\n\n/// Ends.\nfn close() {}\n";
        assert_eq!(
            cut("a.rs", text),
            [" | - | docs 0 | lines 1", " | fn open | docs 2 | lines 6", " | fn close | docs 1 | lines 2"]
        );
    }

    #[test]
    fn a_method_knows_its_surrounding_definitions() {
        let text = "class Store:\n    def save(self):\n        write()\n\nrun()\n";
        assert_eq!(
            cut("a.py", text),
            [
                " | class Store | docs 0 | lines 1",
                "class Store | def save | docs 0 | lines 2",
                " | - | docs 0 | lines 1"
            ]
        );
    }

    #[test]
    fn a_definition_encloses_only_what_its_braces_enclose() {
        let text = "pub type Name = fn();\n\nearly! {\n    hop();\n}\n\nimpl Builder {\n    fn one() {\n        go();\n    }\n\n    extra! {\n        hop();\n    }\n}\n\nrest! {\n    hop();\n}\n";
        let whole: BTreeMap<usize, String> = (1..).zip(text.lines().map(str::to_owned)).collect();
        let mut gaps = whole.clone();
        gaps.retain(|_, line| !line.trim_start().starts_with(['}', 'g']) && !line.is_empty());
        let mut outline = whole.clone();
        outline.retain(|_, line| {
            line.contains("hop")
                || Syntax::of("a.rs").definition(line).is_some()
                || line.starts_with(['}', ' ']) && line.ends_with("    }")
                || line == "}"
        });
        let scopes = |lines: &BTreeMap<usize, String>, view: View| -> Vec<String> {
            let all = passages("a.rs", lines, view);
            let hops = all.iter().flat_map(|passage| passage.lines.iter().map(move |line| (passage, line)));
            hops.filter(|(_, line)| line.text.contains("hop"))
                .map(|(passage, line)| describe(passage, line.number, 0.0).within.unwrap_or_default())
                .collect()
        };
        assert_eq!(scopes(&whole, View::Parts), ["", "impl Builder", ""]);
        assert_eq!(scopes(&outline, View::Outline), ["", "impl Builder", ""], "the closing braces were seen");
        assert_eq!(scopes(&gaps, View::Parts), ["", "", ""], "what is not known is not said");
    }

    #[test]
    fn tests_inside_a_source_file_are_recognised() {
        let text = "fn real() {}\n\nmod tests {\n    #[test]\n    fn works() {}\n}\n";
        let lines: BTreeMap<usize, String> = (1..).zip(text.lines().map(str::to_owned)).collect();
        let flags: Vec<bool> = passages("a.rs", &lines, View::Parts).iter().map(|passage| passage.in_tests).collect();
        assert_eq!(flags, [false, true, true]);
    }
}
