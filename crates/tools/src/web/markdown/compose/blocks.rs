//! Closing of elements, and writing of the blocks they collected: paragraphs, items, tables, code, images.

use html5ever::tokenizer::Tag;

use super::attributes::{Attributes, absolute};
use super::{Composer, MAX_DEPTH, MAX_INDENT, Open, Preformatted};
use crate::web::markdown::element::{Element, is_void};
use crate::web::markdown::flow::Gap;
use crate::web::markdown::frame::{Frame, Role, longest_run};

impl Composer {
    /// Closes the elements that end where this one begins, although their end tags are missing.
    pub(super) fn close_implied(&mut self, element: Element) {
        if element.ends_paragraph() && self.n_paragraphs > 0 {
            self.close_nearest(Open::is_paragraph, |open| open.element.is_barrier());
        }
        match element {
            Element::Item => self.close_nearest(
                |open| open.element == Element::Item,
                |open| matches!(open.element, Element::List { .. }) || open.element.is_barrier(),
            ),
            Element::Term | Element::Description => self.close_nearest(
                |open| matches!(open.element, Element::Term | Element::Description),
                |open| open.name == "dl" || open.element.is_barrier(),
            ),
            Element::Heading(_) => self.close_nearest(
                |open| matches!(open.element, Element::Heading(_)),
                |open| !matches!(open.element, Element::Heading(_) | Element::Plain | Element::Link),
            ),
            Element::Link => {
                self.close_nearest(|open| open.element == Element::Link, |open| open.element.is_barrier());
            }
            Element::Cell => self.close_nearest(
                |open| matches!(open.element, Element::Cell | Element::Caption),
                |open| open.element == Element::Table,
            ),
            Element::Row => self.close_table_part(&[Element::Row, Element::Cell, Element::Caption]),
            Element::Section => {
                self.close_table_part(&[Element::Section, Element::Row, Element::Cell, Element::Caption]);
            }
            _ => {}
        }
    }

    /// Closes the outermost of these parts of the current table.
    fn close_table_part(&mut self, parts: &[Element]) {
        let table = self.open.iter().rposition(|open| open.element == Element::Table);
        let from = table.map_or(0, |at| at + 1);
        if let Some(at) = self.open[from..].iter().position(|open| parts.contains(&open.element)) {
            self.close_to(from + at);
        }
    }

    /// Closes the nearest matching open element, unless another bars the way to it.
    pub(super) fn close_nearest(&mut self, is_meant: impl Fn(&Open) -> bool, bars: impl Fn(&Open) -> bool) {
        let found = self.open.iter().rposition(|open| is_meant(open) || bars(open));
        if let Some(at) = found.filter(|&at| is_meant(&self.open[at])) {
            self.close_to(at);
        }
    }

    pub(super) fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some(open) = self.open.pop() else { return };
            self.n_paragraphs -= usize::from(open.is_paragraph());
            self.hidden.leave(&open);
            self.close(&open);
        }
    }

    fn close(&mut self, open: &Open) {
        let depth = self.open.len();
        while self.frames.last().is_some_and(|frame| frame.depth >= depth) {
            self.close_frame();
        }
        if let Some(preformatted) = self.preformatted.take_if(|preformatted| preformatted.depth >= depth) {
            self.write_preformatted(&preformatted);
        }
        if let Some(preformatted) = &mut self.preformatted {
            return preformatted.end_line(open.element);
        }
        match open.element {
            Element::Quote | Element::Item | Element::Description => {
                self.part(open.element);
                if open.is_begun {
                    self.flow.outdent();
                    self.flow.part();
                }
            }
            Element::Table if open.is_begun => {
                self.flush();
                let blocks = self.tables.pop().map(|mut table| table.blocks()).unwrap_or_default();
                self.write_blocks(&blocks);
            }
            element => self.part(element),
        }
    }

    /// Ends the innermost frame: its role decides where its text goes.
    pub(super) fn close_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        let rendered = frame.render();
        match frame.role {
            Role::Heading(_) | Role::Caption => {
                self.flow.part();
                self.flow.write(&rendered);
                self.flow.part();
            }
            Role::Cell { columns, rows } => {
                if let Some(table) = self.tables.last_mut() {
                    self.n_bytes += table.push(&rendered, columns, rows);
                }
            }
            Role::Link(Some(ref href)) => {
                self.n_bytes += href.len();
                self.inline().append(&rendered, &frame.inline);
            }
            _ => self.inline().append(&rendered, &frame.inline),
        }
    }

    /// Writes the paragraph so far. Marks do not span blocks, so open ones end.
    pub(super) fn flush(&mut self) {
        while !self.frames.is_empty() {
            self.close_frame();
        }
        let paragraph = std::mem::take(&mut self.paragraph);
        self.flow.write(paragraph.text());
    }

    pub(super) fn write_blocks(&mut self, blocks: &[String]) {
        for block in blocks {
            self.flow.part();
            self.flow.write(block);
        }
        self.flow.part();
    }

    /// Turns the current table into a layout: its contents so far and later become blocks.
    pub(super) fn become_layout(&mut self) {
        let is_cell = |frame: &Frame| matches!(frame.role, Role::Cell { .. });
        let holds_other = self.frames.iter().any(|frame| frame.role.holds_blocks() && !is_cell(frame));
        let Some(at) = self.frames.iter().position(is_cell).filter(|_| !holds_other) else { return };
        let Some(mut table) = self.tables.pop() else { return };
        table.is_layout = true;
        let blocks = table.blocks();
        self.tables.push(table);
        self.write_blocks(&blocks);
        let cell = self.frames.remove(at);
        self.paragraph = cell.inline;
        self.flush();
        self.flow.part();
    }

    /// Indents the following blocks. Returns true if it did.
    pub(super) fn indent(&mut self, first: &str) -> bool {
        let n_indented = self.open.iter().filter(|open| open.is_indented()).count();
        if n_indented >= MAX_INDENT {
            return false;
        }
        self.flow.indent(first);
        true
    }

    /// Begins an item of the current list. It may have a number of its own.
    pub(super) fn item(&mut self, number: Option<u64>) -> bool {
        let is_list = |open: &Open| matches!(open.element, Element::List { .. });
        let list = self.open.iter().rposition(is_list);
        let is_nested = list.is_some_and(|at| self.open[..at].iter().any(|open| open.element == Element::Item));
        let marker = match list.map(|at| &mut self.open[at]) {
            Some(open) => {
                if open.is_begun || is_nested {
                    self.flow.set_gap(Gap::Line);
                }
                open.is_begun = true;
                let number = number.or(open.next).unwrap_or(1);
                open.next = number.checked_add(1);
                if open.element == (Element::List { ordered: true }) { format!("{number}. ") } else { "- ".to_owned() }
            }
            None => "- ".to_owned(),
        };
        self.indent(&marker)
    }

    pub(super) fn image(&mut self, tag: &Tag) {
        let alt: Vec<&str> = tag.attribute("alt").unwrap_or_default().split_whitespace().collect();
        let source = tag.attribute("src").and_then(|source| absolute(&self.base, source));
        let is_in_link = self.frames.iter().any(|frame| matches!(frame.role, Role::Link(_) | Role::Code));
        let image = match (alt.join(" "), source) {
            (alt, _) if alt.is_empty() => return,
            (alt, Some(source)) if !is_in_link => format!("![{alt}]({source})"),
            (alt, _) => alt,
        };
        self.n_bytes += image.len();
        self.inline().push_raw(&image);
    }

    pub(super) fn start_in_preformatted(&mut self, tag: &Tag, element: Element) {
        let depth = self.open.len();
        let Some(preformatted) = &mut self.preformatted else { return };
        if preformatted.language.is_empty() && element == Element::Code {
            preformatted.language = tag.language();
        }
        if element == Element::Break {
            preformatted.text.push('\n');
        }
        preformatted.end_line(element);
        if !is_void(&tag.name) && depth < MAX_DEPTH {
            self.enter(Open::new(tag, element));
        }
    }

    pub(super) fn write_preformatted(&mut self, preformatted: &Preformatted) {
        let text = preformatted.text.strip_prefix('\n').unwrap_or(&preformatted.text).trim_end();
        if text.is_empty() {
            return;
        }
        let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
        self.flow.part();
        self.flow.write(&format!("{fence}{}\n{text}\n{fence}", preformatted.language));
        self.flow.part();
    }
}

impl Preformatted {
    /// Ends the line where a block begins or ends in it.
    pub(super) fn end_line(&mut self, element: Element) {
        if element.ends_paragraph() && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}

impl Open {
    fn is_indented(&self) -> bool {
        self.is_begun && matches!(self.element, Element::Quote | Element::Item | Element::Description)
    }
}
