//! HTML to Markdown, in one pass over the page's tokens.
//!
//! No tree is built: in a tree, a small page can hold countless or endlessly nested elements. Time and memory grow with
//! the page alone. The output is for a reader, not for a Markdown compiler: text is not escaped. Elements hidden by
//! their own attributes are left out; style sheets and scripts are not considered.

mod compose;
mod element;
mod flow;
mod frame;
mod inline;
mod table;

use std::cell::RefCell;
use std::time::Instant;

use html5ever::interface::TokenizerResult;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use url::Url;

use self::compose::{Composed, Composer};
use self::element::{Element, is_void};

/// Bytes between two checks of the clock.
const CHUNK_BYTES: usize = 16 * 1024;

/// A page as Markdown.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Markdown {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// Elements with text that the page itself hides, and that are left out.
    pub(crate) n_hidden: usize,
    pub(crate) end: ConversionEnd,
}

/// Syntax of tags: in XML a tag can end its element itself, in HTML only some can.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    Html,
    Xml,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConversionEnd {
    Whole,
    /// There is more than is ever shown; the rest of the page was not examined.
    Full,
    TimedOut,
    /// The page ends inside an element that is left out, so nobody can say what belongs to it.
    Within {
        element: String,
    },
}

/// Converts a page; `base` is its URL.
pub(crate) fn convert(html: &str, syntax: Syntax, base: &Url, deadline: Instant) -> Markdown {
    let sink = Sink { composer: RefCell::new(Composer::new(base.clone())), syntax };
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut rest = html;
    let mut end = ConversionEnd::Whole;
    while !rest.is_empty() {
        let chunk;
        (chunk, rest) = rest.split_at(rest.floor_char_boundary(CHUNK_BYTES));
        queue.push_back(StrTendril::from(chunk));
        while !matches!(tokenizer.feed(&queue), TokenizerResult::Done) {}
        if tokenizer.sink.composer.borrow().is_full() {
            end = ConversionEnd::Full;
            break;
        }
        if Instant::now() >= deadline {
            end = ConversionEnd::TimedOut;
            break;
        }
    }
    if end == ConversionEnd::Whole {
        tokenizer.end();
    }
    let Composed { title, text, n_hidden, within } = tokenizer.sink.composer.into_inner().finish();
    if let Some(element) = within.filter(|_| end == ConversionEnd::Whole) {
        end = ConversionEnd::Within { element };
    }
    Markdown { title, text, n_hidden, end }
}

/// Passes tokens on, and tells the tokenizer where a tag's content is not markup.
struct Sink {
    composer: RefCell<Composer>,
    syntax: Syntax,
}

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, _: u64) -> TokenSinkResult<()> {
        let mut composer = self.composer.borrow_mut();
        match token {
            Token::CharacterTokens(text) => composer.text(&text),
            Token::TagToken(tag) if tag.kind == TagKind::EndTag => composer.end(&tag.name),
            Token::TagToken(tag) => {
                composer.start(&tag);
                if !ends_itself(&tag, self.syntax) {
                    return raw(&tag);
                }
                composer.end(&tag.name);
            }
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// True if a tag also ends its element. In HTML that matters only for elements left out with their contents whose
/// syntax the tokenizer does not know.
fn ends_itself(tag: &Tag, syntax: Syntax) -> bool {
    let is_left_out = || Element::of(&tag.name) == Element::Skipped && matches!(raw(tag), TokenSinkResult::Continue);
    tag.self_closing && !is_void(&tag.name) && (syntax == Syntax::Xml || is_left_out())
}

fn raw(tag: &Tag) -> TokenSinkResult<()> {
    match &*tag.name {
        "script" => TokenSinkResult::RawData(RawKind::ScriptData),
        "style" | "iframe" | "noembed" | "noframes" | "xmp" => TokenSinkResult::RawData(RawKind::Rawtext),
        "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
        "plaintext" => TokenSinkResult::Plaintext,
        _ => TokenSinkResult::Continue,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NAMES: [&str; 40] = [
        "a",
        "b",
        "blockquote",
        "body",
        "br",
        "caption",
        "code",
        "dd",
        "div",
        "dl",
        "dt",
        "em",
        "form",
        "h1",
        "h3",
        "hr",
        "img",
        "input",
        "li",
        "ol",
        "option",
        "p",
        "pre",
        "q",
        "section",
        "span",
        "strong",
        "sub",
        "sup",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "tr",
        "ul",
        "unknown",
        "select",
        "button",
        "details",
    ];

    /// Repeatable pseudo-random numbers.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }
    }

    #[test]
    fn no_word_is_lost_in_badly_nested_tags() {
        let base = Url::parse("http://host/").unwrap();
        for seed in 0..3000 {
            let mut numbers = Numbers(seed);
            let mut html = String::new();
            let n_parts = 1 + numbers.below(60);
            for part in 0..n_parts {
                let name = NAMES[numbers.below(NAMES.len())];
                match numbers.below(5) {
                    0 => html += &format!("<{name}>"),
                    1 => html += &format!("<{name} href=x colspan=3 class=language-x start=7>"),
                    2 => html += &format!("</{name}>"),
                    _ => html += &format!(" word{part}. "),
                }
            }
            let markdown = convert(&html, Syntax::Html, &base, Instant::now() + Duration::from_mins(1));
            assert_eq!(markdown.end, ConversionEnd::Whole, "{html}");
            for word in html.split(['<', '>', ' ']).filter(|word| word.starts_with("word")) {
                let n_found = markdown.text.matches(word).count();
                assert_eq!(n_found, 1, "seed {seed}, {word}:\n{html}\n{}", markdown.text);
            }
        }
    }

    fn converted(page: &str, syntax: Syntax) -> Markdown {
        convert(page, syntax, &Url::parse("http://host/").unwrap(), Instant::now() + Duration::from_mins(1))
    }

    #[test]
    fn a_tag_can_end_its_element_itself_in_xml_but_not_in_html() {
        let page = "<html><head><title/><script src='x'/><style/></head><p>a<a name='b'/> b</p><div/><p>c<br/>d</p>";
        let markdown = converted(page, Syntax::Xml);
        assert_eq!((markdown.title, markdown.text.as_str(), markdown.end), (None, "a b\n\nc\nd", ConversionEnd::Whole));
        let markdown = converted("<p>a</p><script/>b</script><svg/><p>c", Syntax::Html);
        assert_eq!((markdown.text.as_str(), markdown.end), ("a\n\nc", ConversionEnd::Whole));
    }

    #[test]
    fn elements_that_a_page_hides_are_left_out_and_counted() {
        let page = "<p hidden>h1</p><p>a<span style='color:red; Display : NONE'>h2 <b>h3</b></span>b</p>\
                    <ul><li>one<li aria-hidden=true>h4 <img alt=h5 src=x><li>two</ul>\
                    <i aria-hidden=true></i><div hidden><hr><pre>h6</pre><table><tr><td>h7<td>h8</table><p>h9<p>h0</div>\
                    <pre>c<span hidden>1</span>d</pre><input hidden><p aria-hidden=false>e";
        let markdown = converted(page, Syntax::Html);
        assert_eq!(markdown.text, "ab\n\n- one\n- two\n\n```\ncd\n```\n\ne");
        assert_eq!((markdown.n_hidden, markdown.end), (5, ConversionEnd::Whole));
        let whole = converted("<body style='display:none' hidden><p>shown by a script", Syntax::Html);
        assert_eq!((whole.text.as_str(), whole.n_hidden), ("shown by a script", 0));
    }
}
