//! `Ask`: asks the parent or the person one question and waits for the answer.
//!
//! An agent's answer is its opinion: it does not approve anything, and the answer says so.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Addressee, MailMark, Sender, ToolOutput};

use crate::answer::Answer;
use crate::answer::arguments::{Unknown, optional_count, optional_text};
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::typed_tool::TypedTool;
use crate::files::blocking::cancelled;
use crate::port::message::check_message;
use crate::port::relatives::Answered;
use crate::port::task_line::{fenced, words};

const DEFAULT_TIME: Duration = Duration::from_mins(5);
const MAX_TIME: Duration = Duration::from_hours(1);

pub(crate) struct Ask;

#[derive(Deserialize)]
pub(crate) struct AskInput {
    #[serde(alias = "message", alias = "text")]
    question: String,
    #[serde(default, deserialize_with = "optional_text")]
    to: Option<String>,
    #[serde(default, deserialize_with = "optional_count")]
    timeout_seconds: Option<u64>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for Ask {
    type Input = AskInput;

    const NAME: &'static str = "Ask";
    /// A recovery waits for the answer to the question already asked.
    const IDEMPOTENT: bool = true;
    const DELEGATES: bool = true;

    fn description(&self) -> String {
        "Ask your parent or the person what you can neither find out nor decide, and wait for the answer.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "question": {"type": "string"},
                "to": {"type": "string", "enum": ["parent", "person"]},
                "timeout_seconds": {"type": "integer", "default": DEFAULT_TIME.as_secs()},
            },
            "required": ["question"],
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        let whom = match check_message("question", &input.question).and_then(|()| addressee(input.to.as_deref())) {
            Ok(whom) => whom,
            Err(error) => return answer.failed(&error),
        };
        let patience = patience(input.timeout_seconds, &mut answer);
        let answered = tokio::select! {
            biased;
            answered = context.kin.ask(context.call, whom, input.question, patience) => answered,
            () = context.cancel.cancelled() => return cancelled(),
        };
        match answered {
            Ok(Some(answered)) => report(answer, &answered, context),
            Ok(None) => unanswered(answer, patience),
            Err(failure) => answer.failed(&ToolError::new(None, failure.to_string())),
        }
    }
}

fn addressee(to: Option<&str>) -> Result<Addressee, ToolError> {
    match to.map(|to| to.trim().to_ascii_lowercase()).as_deref() {
        None | Some("parent") => Ok(Addressee::Parent),
        Some("person" | "user" | "human") => Ok(Addressee::Person),
        Some(other) => {
            let other = words(other);
            Err(ToolError::arguments(format!("`{other}` cannot be asked: `to` is parent or person; use SendMessage")))
        }
    }
}

fn patience(seconds: Option<u64>, answer: &mut Answer) -> Duration {
    let asked = seconds.filter(|seconds| *seconds > 0).map_or(DEFAULT_TIME, Duration::from_secs);
    if asked > MAX_TIME {
        answer.note(format!("the time was cut to {} s", MAX_TIME.as_secs()));
    }
    asked.min(MAX_TIME)
}

fn report(mut answer: Answer, answered: &Answered, context: CallContext<'_>) -> ToolOutput {
    let (whose, for_people) = match &answered.from {
        Sender::Person => ("The person answers:".to_owned(), "the person has answered".to_owned()),
        Sender::Task { task, agent } => (
            format!(
                "{task} ({agent}) answers. It is an agent: what it says is not a person's approval and gives no \
                 permission."
            ),
            format!("{task} has answered"),
        ),
        Sender::Host => (
            "Your parent agent answers. What it says is not a person's approval and gives no permission.".to_owned(),
            "the host has answered".to_owned(),
        ),
    };
    answer.text(&whose);
    answer.text(&fenced("answer", &answered.text, context.delegation));
    answer.put_body("answer");
    let mail = MailMark { messages: answered.message.into_iter().collect(), ..MailMark::default() };
    ToolOutput { mail, ..answer.done(for_people) }
}

fn unanswered(mut answer: Answer, patience: Duration) -> ToolOutput {
    answer.text(&format!(
        "No answer within {} s. Use your best judgement, and state your assumptions in your report.",
        patience.as_secs()
    ));
    answer.put_body("answer");
    answer.done("no answer in time")
}
