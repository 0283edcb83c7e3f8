//! Closing of elements: by their end tag, or by a tag that cannot stand in them.

use super::{Composer, Open};
use crate::web::markdown::element::Element;

impl Composer {
    /// Closes what ends where this element begins, although its end tag is missing.
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

    /// Closes the outermost of these parts of the table at hand.
    fn close_table_part(&mut self, parts: &[Element]) {
        let table = self.open.iter().rposition(|open| open.element == Element::Table);
        let from = table.map_or(0, |at| at + 1);
        if let Some(at) = self.open[from..].iter().position(|open| parts.contains(&open.element)) {
            self.close_to(from + at);
        }
    }

    /// Closes the nearest open element that is meant, unless something bars the way to it.
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
}
