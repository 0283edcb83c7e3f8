//! The answer of a fetch: the source, the content, and a note of everything missing.

use std::time::{Duration, Instant};

use sortie_protocol::{Fault, ToolOutput};
use tokio::task::spawn_blocking;

use super::fit;
use super::question;
use super::question::MAX_PAGE_BYTES;
use crate::answer::phrases::{bytes, counted, grouped};
use crate::answer::tool_error::ToolError;
use crate::answer::{Answer, MAX_BYTES, MAX_ITEM_BYTES, MAX_ITEM_LINES};
use crate::call::context::CallContext;
use crate::web::body::{BodyEnd, MAX_BODY_BYTES};
use crate::web::content::Form;
use crate::web::fetch::{FetchError, FetchedPage, seconds};
use crate::web::guard::GuardError;
use crate::web::markdown::{ConversionEnd, Syntax, convert};
use crate::web::target::Target;

/// Maximum time to convert a page. A normal page takes a hundredth of it; a hostile one may take longer.
const MAX_CONVERSION: Duration = Duration::from_secs(5);

/// A page as shown.
pub(super) struct PageText {
    url: String,
    status: u16,
    head: String,
    content: String,
}

/// Returns the text of a page, and notes anything missing.
pub(super) async fn read(page: FetchedPage, within: Duration, answer: &mut Answer) -> Result<PageText, ToolError> {
    let url = page.target.url().to_string();
    let n_bytes = page.body.bytes.len();
    if n_bytes == 0
        && let Some(error) = error_without_content(&url, &page.body.end, within)
    {
        return Err(error);
    }
    let content = content(&page, answer).await.ok_or_else(|| {
        let text = format!("{url} was not read: it is binary ({}), not text", bytes(n_bytes as u64));
        ToolError::new(Fault::Binary, text)
    })?;
    note_end(&page.body.end, within, answer);
    Ok(PageText { head: head(&page), status: page.status, url, content })
}

/// The output for a page.
pub(super) async fn page(
    text: &PageText,
    prompt: Option<&str>,
    context: CallContext<'_>,
    mut answer: Answer,
) -> ToolOutput {
    let is_fine = text.status < 400;
    let reading = match prompt.filter(|_| is_fine && !text.content.is_empty()) {
        Some(question) => reading(&text.content, question, context, &mut answer).await,
        None => None,
    };
    answer.line(&text.head);
    put(&mut answer, text, reading.as_deref().unwrap_or(&text.content));
    let output = answer.done(&text.head);
    if is_fine {
        return output;
    }
    let fault = matches!(text.status, 404 | 410).then_some(Fault::NotFound);
    ToolOutput { failed: true, fault, ..output }
}

/// The output for a redirect to another host.
pub(super) fn elsewhere(from: &Target, status: u16, to: &Target, mut answer: Answer) -> ToolOutput {
    let (from, to) = (from.url(), to.url());
    let place =
        if from.scheme() == "https" && to.scheme() == "http" { "without encryption" } else { "to another host" };
    answer.line(&format!("{from} redirects ({status}) {place}, which was not followed: {to}"));
    answer.line("Fetch that URL if you need it.");
    answer.put("url", || to.as_str().into());
    answer.put("status", || status.into());
    answer.put_body("content");
    answer.done(format!("redirects to {to}"))
}

/// The output for a fetch that came to nothing.
pub(super) fn failure(target: &Target, error: &FetchError, answer: Answer) -> ToolOutput {
    let fault = match error {
        FetchError::Guard(GuardError::NotFound { .. } | GuardError::NoAddress { .. }) => Some(Fault::NotFound),
        FetchError::Guard(_) | FetchError::Redirect { .. } => Some(Fault::NoAccess),
        FetchError::TimedOut { .. } => Some(Fault::TimedOut),
        FetchError::NotText { .. } => Some(Fault::Binary),
        FetchError::TooManyRedirects { .. }
        | FetchError::NoLocation { .. }
        | FetchError::Setup { .. }
        | FetchError::NoAnswer { .. }
        | FetchError::Coding(_) => None,
    };
    answer.failed(&ToolError::new(fault, format!("{} was not fetched: {error}", target.url())))
}

fn head(page: &FetchedPage) -> String {
    let size = bytes(page.body.bytes.len() as u64);
    format!("{}: {}, {}, {size}", page.target.url(), page.status, page.media_type.name())
}

/// Returns the reason why there is nothing to show, unless the page is empty.
fn error_without_content(url: &str, end: &BodyEnd, within: Duration) -> Option<ToolError> {
    match end {
        BodyEnd::Whole | BodyEnd::Cut { .. } => None,
        BodyEnd::TimedOut => {
            let text = format!("{url} was not fetched: no content within {} s", seconds(within));
            Some(ToolError::new(Fault::TimedOut, text))
        }
        BodyEnd::Broken { reason } => Some(ToolError::new(None, format!("{url} was not fetched: {reason}"))),
    }
}

/// Returns the text of a page; `None` if it has none.
async fn content(page: &FetchedPage, answer: &mut Answer) -> Option<String> {
    let decoded = page.media_type.decode(&page.body.bytes);
    let form = page.media_type.form_of(&decoded.text)?;
    if decoded.is_lossy && page.media_type.is_unspecific() {
        return None;
    }
    if decoded.is_lossy {
        answer.note(format!("what is not {} is shown as \u{fffd}", decoded.encoding));
    }
    if decoded.text.trim().is_empty() {
        answer.note("there is no content");
        return Some(String::new());
    }
    Some(match form {
        Form::Text => decoded.text.into_owned(),
        Form::Html => {
            let syntax = page.media_type.syntax();
            markdown(decoded.text.into_owned(), syntax, page.target.clone(), answer).await
        }
    })
}

async fn markdown(html: String, syntax: Syntax, target: Target, answer: &mut Answer) -> String {
    let work = spawn_blocking(move || convert(&html, syntax, target.url(), Instant::now() + MAX_CONVERSION));
    let markdown = match work.await {
        Ok(markdown) => markdown,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => return String::new(),
        },
    };
    match markdown.end {
        ConversionEnd::Whole => {}
        ConversionEnd::Full => answer.note_lack("the rest of the page was not converted: it has too much text"),
        ConversionEnd::TimedOut => {
            let seconds = MAX_CONVERSION.as_secs();
            answer.note_lack(format!("the rest of the page was not converted: {seconds} s were not enough"));
        }
        ConversionEnd::Within { element } => {
            answer.note_lack(format!("<{element}> has no end, so everything after it is left out"));
        }
    }
    if markdown.n_hidden > 0 {
        answer.note(format!("{} left out", counted(markdown.n_hidden, "hidden element", "hidden elements")));
    }
    if markdown.text.is_empty() {
        answer.note("the page has no text; scripts are not run");
    }
    match markdown.title {
        Some(title) => format!("Title: {title}\n\n{}", markdown.text).trim_end().to_owned(),
        None => markdown.text,
    }
}

/// Returns the small model's answer to the question; `None` if the page itself is to be shown.
async fn reading(content: &str, question: &str, context: CallContext<'_>, answer: &mut Answer) -> Option<String> {
    let Some(assistant) = context.assistant else {
        answer.note("no model is set to answer the question; this is the page itself");
        return None;
    };
    match question::ask(assistant, content, question).await {
        Ok(reading) => {
            if !reading.is_whole {
                let (read, all) = (MAX_PAGE_BYTES / 1024, content.len().div_ceil(1024));
                answer.note_lack(format!("answered from the first {read} KiB of {all} KiB"));
            }
            Some(reading.answer)
        }
        Err(failure) => {
            answer.note(format!("the question was not answered ({}); this is the page itself", failure.message));
            None
        }
    }
}

fn note_end(end: &BodyEnd, within: Duration, answer: &mut Answer) {
    match end {
        BodyEnd::Whole => {}
        BodyEnd::Cut { n_bytes } => {
            let rest = n_bytes.map(|n_bytes| grouped(n_bytes.saturating_sub(MAX_BODY_BYTES as u64)));
            let rest = rest.map_or_else(|| "the rest was".to_owned(), |rest| format!("{rest} more bytes were"));
            answer.note_lack(format!("cut at {} MiB; {rest} not read", MAX_BODY_BYTES / (1024 * 1024)));
        }
        BodyEnd::TimedOut => {
            answer.note_lack(format!("stopped after {} s; the rest was not read", seconds(within)));
        }
        BodyEnd::Broken { reason } => answer.note_lack(format!("the rest is missing: {reason}")),
    }
}

/// Adds as much as fits of a page's content, or of the answer about it.
fn put(answer: &mut Answer, text: &PageText, content: &str) {
    let n_fitting = if answer.is_structured() { fitting_in_object(content, &text.url) } else { content.len() };
    let shown = fit(content, n_fitting.min(MAX_BYTES - text.head.len() - 2));
    answer.line(shown);
    if shown.len() < content.len() {
        let (kib, all) = (shown.len().div_ceil(1024), content.len().div_ceil(1024));
        let asked = if content.len() > MAX_PAGE_BYTES {
            format!("the first {} KiB", MAX_PAGE_BYTES / 1024)
        } else {
            "the rest".to_owned()
        };
        answer.note_lack(format!("the first {kib} KiB of {all} KiB; use prompt to ask about {asked}"));
    }
    answer.put("url", || text.url.as_str().into());
    answer.put("status", || text.status.into());
    answer.put("content", || shown.into());
}

/// Returns how much of a text fits into an object, so that nobody has to cut it again. Counts it as JSON with the URL,
/// and within the line limit.
fn fitting_in_object(text: &str, url: &str) -> usize {
    let most = MAX_ITEM_BYTES.saturating_sub(url.len());
    let (mut n_bytes, mut n_lines) = (0, 0);
    for (at, character) in text.char_indices() {
        n_lines += usize::from(character == '\n');
        n_bytes += match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            other => other.len_utf8(),
        };
        if n_bytes > most || n_lines == MAX_ITEM_LINES {
            return at;
        }
    }
    text.len()
}
