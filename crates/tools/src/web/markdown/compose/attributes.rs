//! Attributes of tags: links, images, languages of code, and what is hidden.

use html5ever::tokenizer::Tag;
use url::Url;

pub(super) trait Attributes {
    fn attribute(&self, name: &str) -> Option<&str>;

    fn number(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.trim().parse().ok()
    }

    /// Number of columns or rows of a cell.
    fn span(&self, name: &str) -> usize {
        self.number(name).and_then(|number| number.try_into().ok()).unwrap_or(1)
    }

    /// True if the element is hidden from readers. A page that hides all of itself is shown by a script.
    fn is_hidden(&self) -> bool;

    /// The language of the code in it, as marked by highlighters; empty if unknown.
    fn language(&self) -> String {
        const MAX_CHARS: usize = 20;
        let classes = self.attribute("class").unwrap_or_default().split_ascii_whitespace();
        let mut named = classes.filter_map(|class| {
            ["language-", "lang-", "highlight-source-", "brush:"].iter().find_map(|start| class.strip_prefix(start))
        });
        let language = named.next().unwrap_or_default();
        language.chars().filter(|c| c.is_ascii_alphanumeric() || "+-#_.".contains(*c)).take(MAX_CHARS).collect()
    }
}

impl Attributes for Tag {
    fn is_hidden(&self) -> bool {
        if matches!(&*self.name, "html" | "body") {
            return false;
        }
        let style = || {
            self.attribute("style").is_some_and(|style| {
                let style: String = style.split_whitespace().collect();
                style.to_ascii_lowercase().contains("display:none")
            })
        };
        let is_true = |value: &str| value.trim().eq_ignore_ascii_case("true");
        self.attribute("hidden").is_some() || self.attribute("aria-hidden").is_some_and(is_true) || style()
    }

    fn attribute(&self, name: &str) -> Option<&str> {
        self.attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
    }
}

/// Resolves a reference on this page; `None` if it leads to the same page, or to nothing that could be fetched or
/// written to.
pub(super) fn absolute(base: &Url, reference: &str) -> Option<String> {
    const MAX_BYTES: usize = 2000;
    if reference.trim_start().starts_with('#') {
        return None;
    }
    let url = base.join(reference).ok().filter(|url| matches!(url.scheme(), "http" | "https" | "mailto"))?;
    Some(String::from(url)).filter(|url| url.len() <= MAX_BYTES)
}
