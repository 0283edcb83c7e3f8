//! `WebFetch`: fetches a page as Markdown or a text verbatim, or answers a question about it.
//!
//! It sends nothing but the URL: no cookies, no credentials, no proxy. [`WebRules`] names the addresses besides the
//! public internet that it may reach; each connection is checked by its actual address.

mod question;
mod report;

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Fault, Resource, ToolOutput};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use crate::answer::arguments::{Unknown, optional_text};
use crate::answer::tool_error::ToolError;
use crate::answer::truncate;
use crate::call::context::CallContext;
use crate::call::typed_tool::TypedTool;
use crate::files::blocking::cancelled;
use crate::web::fetch::{Fetched, fetch};
use crate::web::guard::Guard;
use crate::web::lookup::Lookup;
use crate::web::target::Target;
use crate::web::web_rules::WebRules;

/// Maximum duration of one fetch, including redirects and the wait for a slot.
const WITHIN: Duration = Duration::from_secs(30);

/// Concurrent fetches of the whole process. Each may hold a page and its text several times over.
static SLOTS: Semaphore = Semaphore::const_new(32);

/// Fetches pages from the internet. Nothing is built before the first fetch.
pub struct WebFetch {
    guard: Guard,
    within: Duration,
}

#[derive(Deserialize)]
pub struct WebFetchInput {
    url: String,
    #[serde(default, deserialize_with = "optional_text")]
    prompt: Option<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl WebFetch {
    pub fn new(rules: WebRules) -> Self {
        Self { guard: Guard::new(rules), within: WITHIN }
    }

    /// Replaces the machine's name lookup.
    #[must_use]
    pub fn with_lookup(self, lookup: Arc<dyn Lookup>) -> Self {
        Self { guard: self.guard.with_lookup(lookup), ..self }
    }

    /// Replaces the time limit of a fetch, 30 s by default.
    #[must_use]
    pub fn within(self, within: Duration) -> Self {
        Self { within, ..self }
    }

    async fn fetch(&self, input: &WebFetchInput, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        let target = match Target::parse(&input.url) {
            Ok(target) => target,
            Err(error) => return answer.failed(&ToolError::arguments(format!("nothing was fetched: {error}"))),
        };
        let deadline = Instant::now() + self.within;
        let Ok(Ok(slot)) = timeout_at(deadline, SLOTS.acquire()).await else {
            let text = format!("{} was not fetched: other fetches took all the time it had; try again", target.url());
            return answer.failed(&ToolError::new(Fault::TimedOut, text));
        };
        match fetch(&self.guard, target.clone(), deadline, self.within).await {
            Ok(Fetched::Page(page)) => {
                let read = report::read(page, self.within, &mut answer).await;
                // A model may be slow to answer.
                drop(slot);
                match read {
                    Ok(text) => report::page(&text, input.prompt.as_deref(), context, answer).await,
                    Err(error) => answer.failed(&error),
                }
            }
            Ok(Fetched::Elsewhere { from, status, to }) => report::elsewhere(&from, status, &to, answer),
            Err(error) => report::failure(&target, &error, answer),
        }
    }
}

impl TypedTool for WebFetch {
    type Input = WebFetchInput;

    const NAME: &'static str = "WebFetch";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "Fetch a web page as Markdown, or a text as it is. With prompt, a small model reads the page and only its \
         answer is returned."
            .to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {"type": "string"},
                "prompt": {"type": "string"},
            },
            "required": ["url"],
        })
    }

    fn resource(&self, input: &Self::Input, _: CallContext<'_>) -> Resource {
        Target::parse(&input.url).map_or(Resource::Nothing, |target| Resource::Host(target.host().to_owned()))
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => cancelled(),
            output = self.fetch(&input, context) => output,
        }
    }
}

/// Returns the start of a text that fits, up to the end of a line if one is near.
fn fit(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let start = &text[..text.floor_char_boundary(max_bytes)];
    let line_end = start.rfind('\n').filter(|&at| at >= max_bytes / 4 * 3);
    line_end.map_or_else(|| truncate::start(text, start.len()), |line_end| &start[..line_end])
}
