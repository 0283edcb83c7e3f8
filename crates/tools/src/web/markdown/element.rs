//! `Element`: the meaning of each HTML element to a reader of Markdown.

/// Effect of an element on its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// Left out with all of its contents.
    Skipped,
    Title,
    Base,
    /// On lines of its own.
    Block,
    Heading(usize),
    Quote,
    List {
        ordered: bool,
    },
    Item,
    Term,
    Description,
    Preformatted,
    Table,
    Section,
    Row,
    Cell,
    Caption,
    Rule,
    Break,
    Image,
    Link,
    /// Between two marks.
    Marked(&'static str),
    Code,
    /// After a mark: a power or an index.
    Raised(&'static str),
    Quotation,
    /// A separate word in a list of choices.
    Choice,
    /// Without effect for a reader.
    Plain,
}

impl Element {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "script" | "style" | "template" | "iframe" | "noembed" | "noframes" | "svg" | "canvas" | "audio"
            | "video" => Self::Skipped,
            "title" => Self::Title,
            "base" => Self::Base,
            "address" | "article" | "aside" | "body" | "center" | "details" | "dialog" | "dir" | "div" | "dl"
            | "fieldset" | "figcaption" | "figure" | "footer" | "form" | "header" | "hgroup" | "legend" | "main"
            | "nav" | "p" | "search" | "section" | "summary" => Self::Block,
            "h1" => Self::Heading(1),
            "h2" => Self::Heading(2),
            "h3" => Self::Heading(3),
            "h4" => Self::Heading(4),
            "h5" => Self::Heading(5),
            "h6" => Self::Heading(6),
            "blockquote" => Self::Quote,
            "ul" | "menu" => Self::List { ordered: false },
            "ol" => Self::List { ordered: true },
            "li" => Self::Item,
            "dt" => Self::Term,
            "dd" => Self::Description,
            "pre" | "listing" | "xmp" | "plaintext" => Self::Preformatted,
            "table" => Self::Table,
            "thead" | "tbody" | "tfoot" => Self::Section,
            "tr" => Self::Row,
            "td" | "th" => Self::Cell,
            "caption" => Self::Caption,
            "hr" => Self::Rule,
            "br" => Self::Break,
            "img" => Self::Image,
            "a" => Self::Link,
            "b" | "strong" => Self::Marked("**"),
            "em" | "i" => Self::Marked("*"),
            "del" | "s" | "strike" => Self::Marked("~~"),
            "code" | "kbd" | "samp" | "tt" => Self::Code,
            "sup" => Self::Raised("^"),
            "sub" => Self::Raised("_"),
            "q" => Self::Quotation,
            "option" | "optgroup" | "button" => Self::Choice,
            _ => Self::Plain,
        }
    }

    /// True if it ends an open paragraph.
    pub(super) fn ends_paragraph(self) -> bool {
        matches!(
            self,
            Self::Block
                | Self::Heading(_)
                | Self::Quote
                | Self::List { .. }
                | Self::Item
                | Self::Term
                | Self::Description
                | Self::Preformatted
                | Self::Table
                | Self::Rule
        )
    }

    /// True if a table around it only arranges the page.
    pub(super) fn is_more_than_a_cell(self) -> bool {
        matches!(
            self,
            Self::Heading(_) | Self::Quote | Self::List { .. } | Self::Preformatted | Self::Table | Self::Rule
        )
    }

    /// True if end tags inside it have no effect outside, even if its own end tag is missing.
    pub(super) fn is_barrier(self) -> bool {
        matches!(self, Self::Cell | Self::Caption | Self::Table)
    }
}

/// True for elements without content, and so without an end tag.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "embed"
            | "frame"
            | "hr"
            | "img"
            | "input"
            | "keygen"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}
