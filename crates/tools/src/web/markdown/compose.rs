//! `Composer`: turns tags and text into blocks, with the stack of open elements.
//!
//! It handles missing and wrong end tags as browsers do, as far as a reader could tell the difference.

mod attributes;
mod blocks;

use html5ever::tokenizer::Tag;
use url::Url;

use self::attributes::{Attributes, absolute};
use super::element::{Element, is_void};
use super::flow::{Flow, Gap};
use super::frame::{Frame, Role};
use super::inline::Inline;
use super::table::Table;

/// Maximum size of the text written. An answer holds far less.
const MAX_BYTES: usize = 1024 * 1024;
/// Tags of elements nested deeper are ignored.
const MAX_DEPTH: usize = 256;
/// Quotes and lists nested deeper are not indented any further.
const MAX_INDENT: usize = 12;
/// A longer link or heading has lost its end tag: it ends before the next block.
const MAX_SHORT_BYTES: usize = 1000;

pub(super) struct Composer {
    base: Url,
    /// True if the page has set the base of its references.
    is_rebased: bool,
    title: Option<String>,
    flow: Flow,
    /// The paragraph being written.
    paragraph: Inline,
    frames: Vec<Frame>,
    open: Vec<Open>,
    /// Number of paragraphs among them, to avoid useless searches.
    n_paragraphs: usize,
    tables: Vec<Table>,
    /// Preformatted text, and the number of elements open at its start.
    preformatted: Option<Preformatted>,
    /// An element being left out, and the number of open elements with its name.
    skipped: Option<(String, usize)>,
    in_title: bool,
    /// Elements hidden by the page.
    hidden: Hidden,
    /// Total size of text and links, wherever they are now.
    n_bytes: usize,
}

struct Open {
    name: String,
    element: Element,
    /// For a list: the number of its next item.
    next: Option<u64>,
    /// For a list: it has an item. For a quote or an item: it is indented. For a table: it is collected.
    is_begun: bool,
    is_hidden: bool,
}

/// Elements that the page hides from its readers.
#[derive(Default)]
struct Hidden {
    /// Number currently open.
    n_open: usize,
    /// Number of outermost ones with hidden text.
    n_with_text: usize,
    /// True if the outermost open one has been counted.
    is_counted: bool,
}

/// A page as Markdown.
pub(super) struct Composed {
    pub(super) title: Option<String>,
    pub(super) text: String,
    pub(super) n_hidden: usize,
    /// The element that is left out and never ends.
    pub(super) within: Option<String>,
}

struct Preformatted {
    text: String,
    language: String,
    depth: usize,
}

impl Open {
    fn new(tag: &Tag, element: Element) -> Self {
        Self { name: (*tag.name).to_owned(), element, next: None, is_begun: false, is_hidden: tag.is_hidden() }
    }

    fn is_paragraph(&self) -> bool {
        self.name == "p"
    }
}

impl Hidden {
    fn enter(&mut self, open: &Open) {
        self.is_counted &= self.n_open > 0;
        self.n_open += usize::from(open.is_hidden);
    }

    fn leave(&mut self, open: &Open) {
        self.n_open -= usize::from(open.is_hidden);
    }

    /// Counts a hidden element with text, and leaves the text out.
    fn pass_over(&mut self, text: &str) {
        if !self.is_counted && !text.trim().is_empty() {
            self.n_with_text += 1;
            self.is_counted = true;
        }
    }
}

impl Composer {
    pub(super) fn new(base: Url) -> Self {
        Self {
            base,
            is_rebased: false,
            title: None,
            flow: Flow::new(),
            paragraph: Inline::default(),
            frames: Vec::new(),
            open: Vec::new(),
            n_paragraphs: 0,
            tables: Vec::new(),
            preformatted: None,
            skipped: None,
            in_title: false,
            hidden: Hidden::default(),
            n_bytes: 0,
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.n_bytes.max(self.flow.len()) > MAX_BYTES
    }

    pub(super) fn text(&mut self, text: &str) {
        if self.skipped.is_some() || self.is_full() {
            return;
        }
        if self.hidden.n_open > 0 && !self.in_title {
            return self.hidden.pass_over(text);
        }
        self.n_bytes += text.len();
        if self.in_title {
            self.title.get_or_insert_default().push_str(text);
        } else if let Some(preformatted) = &mut self.preformatted {
            preformatted.text.push_str(text);
        } else {
            self.inline().push(text);
        }
    }

    pub(super) fn start(&mut self, tag: &Tag) {
        let name = &*tag.name;
        let element = Element::of(name);
        if let Some((skipped, n_open)) = &mut self.skipped {
            *n_open += usize::from(skipped == name);
            return;
        }
        if self.is_full() {
            return;
        }
        match element {
            Element::Title if self.title.is_none() => self.in_title = true,
            Element::Skipped | Element::Title => self.skipped = Some((name.to_owned(), 1)),
            Element::Base => self.rebase(tag),
            _ if self.preformatted.is_some() => self.start_in_preformatted(tag, element),
            _ => {
                self.close_implied(element);
                self.open(tag, element);
            }
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        if let Some((skipped, n_open)) = &mut self.skipped {
            *n_open -= usize::from(skipped == name);
            if *n_open == 0 {
                self.skipped = None;
            }
            return;
        }
        match Element::of(name) {
            Element::Title => self.in_title = false,
            // Browsers treat `</br>` and `</p>` this way.
            Element::Break => self.inline().line_break(),
            element => {
                // An end tag has no effect outside its table cell, unless it belongs to the table itself.
                let is_of_table =
                    matches!(element, Element::Table | Element::Section | Element::Row) || element.is_barrier();
                let is_heading = matches!(element, Element::Heading(_));
                let is_heading = |open: &Open| is_heading && matches!(open.element, Element::Heading(_));
                self.close_nearest(
                    |open| open.name == name || is_heading(open),
                    |open| open.element.is_barrier() && !is_of_table,
                );
            }
        }
    }

    pub(super) fn finish(mut self) -> Composed {
        self.close_to(0);
        self.flush();
        let title = self.title.map(|title| title.split_whitespace().collect::<Vec<_>>().join(" "));
        Composed {
            title: title.filter(|title| !title.is_empty()),
            text: self.flow.into_text(),
            n_hidden: self.hidden.n_with_text,
            within: self.skipped.map(|(name, _)| name),
        }
    }

    /// Sets the base of references. Only the first one counts.
    fn rebase(&mut self, tag: &Tag) {
        let url = tag.attribute("href").filter(|_| !self.is_rebased).and_then(|href| self.base.join(href).ok());
        if let Some(url) = url {
            self.base = url;
            self.is_rebased = true;
        }
    }

    /// Begins an element. A void element also ends here.
    fn open(&mut self, tag: &Tag, element: Element) {
        if self.open.len() >= MAX_DEPTH && !is_void(&tag.name) {
            return self.part(element);
        }
        if element.is_more_than_a_cell() {
            self.become_layout();
        }
        let role = self.role(tag, element);
        let is_inline = self.is_inline();
        if role.as_ref().is_none_or(|role| matches!(role, Role::Heading(_) | Role::Cell { .. } | Role::Caption)) {
            self.part(element);
        }
        let mut open = Open { next: tag.number("start").or(Some(1)), ..Open::new(tag, element) };
        let is_shown = self.hidden.n_open == 0;
        match element {
            Element::Rule if !is_inline && is_shown => self.flow.write("---"),
            Element::Break if is_shown => self.inline().line_break(),
            Element::Image if is_shown => self.image(tag),
            Element::Quote if !is_inline => open.is_begun = self.indent("> "),
            Element::Item if !is_inline => open.is_begun = self.item(tag.number("value")),
            Element::Description if !is_inline => {
                self.flow.set_gap(Gap::Line);
                open.is_begun = self.indent(": ");
            }
            Element::Table if !is_inline => {
                self.tables.push(Table::default());
                open.is_begun = true;
            }
            Element::Row if !is_inline => self.tables.last_mut().map_or((), Table::begin_row),
            Element::Preformatted if !is_inline => {
                let (language, depth) = (tag.language(), self.open.len());
                self.preformatted = Some(Preformatted { text: String::new(), language, depth });
            }
            _ => {}
        }
        if is_void(&tag.name) {
            return;
        }
        if let Some(role) = role {
            self.frames.push(Frame { role, inline: Inline::default(), depth: self.open.len() });
        }
        self.enter(open);
    }

    fn enter(&mut self, open: Open) {
        self.n_paragraphs += usize::from(open.is_paragraph());
        self.hidden.enter(&open);
        self.open.push(open);
    }

    /// Returns the form of an element's text; `None` if its text just continues.
    fn role(&self, tag: &Tag, element: Element) -> Option<Role> {
        if self.frames.iter().any(|frame| frame.role == Role::Code) {
            return None;
        }
        let is_inline = self.is_inline();
        match element {
            Element::Marked(mark) => Some(Role::Marked(mark)),
            Element::Raised(mark) => Some(Role::Raised(mark)),
            Element::Quotation => Some(Role::Quotation),
            Element::Code => Some(Role::Code),
            Element::Preformatted if is_inline => Some(Role::Code),
            Element::Link => tag.attribute("href").map(|href| Role::Link(absolute(&self.base, href))),
            Element::Heading(level) if !is_inline => Some(Role::Heading(level)),
            Element::Cell if self.tables.last().is_some_and(|table| !table.is_layout) && !is_inline => {
                Some(Role::Cell { columns: tag.span("colspan"), rows: tag.span("rowspan") })
            }
            Element::Caption if !is_inline => Some(Role::Caption),
            _ => None,
        }
    }

    /// Separates an element from the text before it, if it stands on lines of its own or is a word of its own.
    fn part(&mut self, element: Element) {
        let is_block = element.ends_paragraph()
            || matches!(element, Element::Section | Element::Row | Element::Cell | Element::Caption);
        if !is_block && element != Element::Choice {
            return;
        }
        let is_lost = |frame: &Frame| frame.role.is_short() && frame.inline.len() > MAX_SHORT_BYTES;
        if let Some(at) = self.frames.iter().position(is_lost) {
            while self.frames.len() > at {
                self.close_frame();
            }
        }
        if !is_block || self.is_inline() {
            self.inline().space();
        } else {
            self.flush();
            self.flow.part();
        }
    }

    /// True if blocks are reduced to words in a row here.
    fn is_inline(&self) -> bool {
        self.frames.iter().any(|frame| frame.role.holds_blocks())
    }

    fn inline(&mut self) -> &mut Inline {
        self.frames.last_mut().map_or(&mut self.paragraph, |frame| &mut frame.inline)
    }
}
