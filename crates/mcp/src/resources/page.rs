//! A page of a possibly long text. The text before it is skipped and the text after it only counted, so that no more
//! than a page is in memory.

use rmcp::ErrorData;

use crate::resources::address::Address;

/// About as much as a model can read at once without losing sight of the rest.
const MAX_CHARS: usize = 40_000;

/// Removes line breaks, which would let one description speak for another.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) struct Page {
    from: usize,
    text: String,
    /// Characters pushed so far, in total.
    whole: usize,
}

impl Page {
    pub(super) fn new(from: usize) -> Self {
        Self { from, text: String::new(), whole: 0 }
    }

    /// True if nothing has been pushed.
    pub(super) fn is_empty(&self) -> bool {
        self.whole == 0
    }

    /// Appends more of the whole.
    pub(super) fn push(&mut self, text: &str) {
        let n_chars = text.chars().count();
        let before = self.from.saturating_sub(self.whole);
        let room = self.from.saturating_add(MAX_CHARS).saturating_sub(self.whole.max(self.from));
        if before < n_chars && room > 0 {
            self.text.extend(text.chars().skip(before).take(room));
        }
        self.whole += n_chars;
    }

    /// Returns the page and, if there is more, a final line with the address of the next one.
    pub(super) fn finish(mut self, address: &Address) -> Result<String, ErrorData> {
        let end = self.from.saturating_add(MAX_CHARS).min(self.whole);
        if self.from > self.whole {
            let message = format!("{address} begins past the end: there are {} characters", self.whole);
            return Err(ErrorData::invalid_params(message, None));
        }
        if end < self.whole {
            let next = Address { from: end, ..*address };
            let (from, whole) = (self.from, self.whole);
            self.text += &format!("\n[characters {from} to {end} of {whole}; the rest is at {next}]\n");
        }
        Ok(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::{Subject, View};
    use sortie_protocol::TaskId;

    fn page(from: usize, pieces: &[&str]) -> Result<String, ErrorData> {
        let subject = Subject::Task(TaskId::from_random([0; 12]), View::Report);
        let mut page = Page::new(from);
        for piece in pieces {
            page.push(piece);
        }
        page.finish(&Address { subject, from })
    }

    #[test]
    fn a_short_text_is_whole_and_a_long_one_continues_at_an_address() {
        assert_eq!(page(0, &["é", "b"]).unwrap(), "éb");
        assert_eq!(page(0, &[]).unwrap(), "");
        let (full, rest) = ("é".repeat(MAX_CHARS), "rest");
        let first = page(0, &[&full[..2], &full[2..], rest]).unwrap();
        let said =
            "[characters 0 to 40000 of 40004; the rest is at sortie://tasks/agent-aaaaaaaaaaaa/report?from=40000]";
        assert_eq!(first, format!("{full}\n{said}\n"));
        assert_eq!(page(MAX_CHARS, &[&full, rest]).unwrap(), "rest");
        assert_eq!(page(MAX_CHARS - 1, &[&full, rest]).unwrap(), "érest");
    }

    #[test]
    fn a_page_after_the_end_is_an_error() {
        assert_eq!(page(2, &["éb"]).unwrap(), "");
        assert!(page(3, &["éb"]).is_err());
        assert!(page(usize::MAX, &["éb"]).is_err());
    }
}
