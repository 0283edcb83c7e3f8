//! Conversations that outgrow their model's window: shortened in time, equally after a crash, and always so that a
//! provider accepts them.

use expect_test::expect;
use serde_json::json;
use sortie_engine::Resumption;
use sortie_llm::{ModelRequest, Terms, ToolChoice};
use sortie_protocol::{
    Compaction, Event, Fact, FailureCode, Limit, Limits, Message, Part, Status, TaskOutcome, TaskRequest, ToolCall,
    Usage,
};
use sortie_testkit::{Fault, ScriptedModel, ScriptedReply, Seen, StatusFault, reply};

use crate::mail_races::Site;
use crate::relic::Relic;
use crate::support::{Plan, ask};

/// A window with room for the main agent's tools and some ten pages.
const WINDOW: u64 = 16_000;
const PAGES: usize = 30;

/// The text of a page, without its number.
fn page() -> String {
    "A line of a page that somebody wants to have read.\n".repeat(60)
}

/// The provider's count: four bytes to a token, the tools included.
fn counted(request: &ModelRequest<'_>) -> u64 {
    let tools =
        request.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.schema.to_string().len());
    let messages = request.messages.iter().map(|message| match message {
        Message::User { text } => text.len(),
        Message::Assistant { parts } => parts.iter().map(part_bytes).sum(),
        Message::Outputs { outputs } => outputs.iter().map(|output| output.output.for_model.len()).sum(),
    });
    ((request.system.len() + tools.sum::<usize>() + messages.sum::<usize>()) / 4) as u64
}

fn part_bytes(part: &Part) -> usize {
    match part {
        Part::Text { text } => text.len(),
        Part::Reasoning(reasoning) => reasoning.item.to_string().len(),
        Part::Call(call) => call.tool.len() + call.arguments.len(),
    }
}

fn too_long() -> ScriptedReply {
    let message = Some("prompt is too long".to_owned());
    reply::fault(Fault::Status(StatusFault { code: 400, retry_after: None, message }))
}

/// The newest call, by which a model knows its progress, whatever else is left of its conversation.
fn last_call<'a>(request: &ModelRequest<'a>) -> Option<&'a ToolCall> {
    request.messages.iter().rev().find_map(|message| match message {
        Message::Assistant { parts } => parts.iter().find_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text { .. } | Part::Reasoning(_) => None,
        }),
        Message::User { .. } | Message::Outputs { .. } => None,
    })
}

fn is_asked(request: &ModelRequest<'_>, words: &str) -> bool {
    matches!(request.messages.last(), Some(Message::User { text }) if text.contains(words))
}

/// Reads one page after the other, writes that many words about each, and then says that it is done; sums up if asked
/// to.
#[derive(Clone, Copy)]
struct Reader {
    /// Most tokens that its provider accepts.
    takes: u64,
    says: usize,
}

impl Reader {
    fn answer(self, request: &ModelRequest<'_>) -> ScriptedReply {
        if counted(request) > self.takes {
            return too_long();
        }
        let usage = Usage { input_tokens: counted(request), output_tokens: 50, ..Usage::default() };
        if is_asked(request, "Sum up this conversation") {
            assert_eq!(request.tool_choice, ToolChoice::None);
            assert!(request.max_output.is_some_and(|cap| cap <= 2048), "also without a limit");
            return reply::text("Page one says hello.").usage(usage);
        }
        if is_asked(request, "reached a limit") {
            return reply::text("So far.").usage(usage);
        }
        let next = last_call(request).map_or(1, |call| number(&call.arguments) + 1);
        if next > PAGES {
            return reply::text("All pages are read.").usage(usage);
        }
        let read = reply::calls([reply::call("Read", json!({"file_path": format!("page-{next}.txt")}))]);
        let words = format!("Page {next} comes next. {}", "It matters. ".repeat(self.says / 12));
        reply::reasoning(format!("thought {next}")).text(words).calls(read.parts).usage(usage)
    }

    fn plan(self, window: Option<u64>) -> Plan {
        let pages: Vec<(String, String)> = (1..=PAGES).map(|n| (format!("page-{n}.txt"), page())).collect();
        let plan = Plan::of(ScriptedModel::answering(move |request| self.answer(request))).files(&pages);
        Plan { terms: Terms { window, ..Terms::default() }, ..plan }
    }
}

fn number(arguments: &str) -> usize {
    arguments.chars().filter(char::is_ascii_digit).collect::<String>().parse().expect("a page has a number")
}

fn compactions(events: &[Event]) -> Vec<(Compaction, Usage)> {
    let fact = |event: &Event| match &event.fact {
        Fact::Compacted { compaction, usage } => Some((compaction.clone(), *usage)),
        _ => None,
    };
    events.iter().filter_map(fact).collect()
}

fn notices(outcome: &TaskOutcome) -> String {
    outcome.notices.join("; ")
}

/// All requests have the same tools, the same system prompt and the same brief.
#[track_caller]
fn begin_alike(seen: &[Seen]) {
    for one in seen {
        assert_eq!(
            (&one.specs, &one.system, &one.messages[0]),
            (&seen[0].specs, &seen[0].system, &seen[0].messages[0])
        );
    }
}

#[tokio::test]
async fn old_outputs_go_before_the_window_is_full_and_the_newest_turns_stay() {
    let world = Reader { takes: WINDOW, says: 0 }.plan(Some(WINDOW)).build();
    let outcome = world.run(ask("Read all pages.")).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "All pages are read."));
    expect!["the conversation was shortened to fit the model's window; the log has all of it"]
        .assert_eq(&notices(&outcome));
    let all = compactions(&world.events());
    assert!((2..6).contains(&all.len()), "{}", all.len());
    assert!(all.iter().all(|(compaction, _)| compaction.summary.is_none()), "outputs are enough");
    let seen = world.model.seen();
    assert_eq!(seen.len(), PAGES + 1, "none was refused");
    begin_alike(&seen);
    let last = seen.last().expect("it was asked");
    let outputs: Vec<&str> = outputs(last);
    assert_eq!(outputs.len(), PAGES, "each call has its output");
    expect!["[left out to make room: page-1.txt: lines 1-60 of 60. The same call shows it as it is now.]"]
        .assert_eq(outputs[0]);
    assert!(outputs[PAGES - 2..].iter().all(|output| output.contains("somebody wants")), "{outputs:?}");
}

fn outputs(seen: &Seen) -> Vec<&str> {
    let outputs = seen.messages.iter().filter_map(|message| match message {
        Message::Outputs { outputs } => Some(outputs),
        _ => None,
    });
    outputs.flatten().map(|output| output.output.for_model.as_str()).collect()
}

#[tokio::test]
async fn the_model_sums_up_its_older_turns_if_stubs_are_not_enough() {
    let world = Reader { takes: WINDOW, says: 1500 }.plan(Some(WINDOW)).build();
    let outcome = world.run(ask("Read all pages.")).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "All pages are read."));
    let all = compactions(&world.events());
    let with_summary: Vec<_> = all.iter().filter(|(compaction, _)| compaction.summary.is_some()).collect();
    assert!(!with_summary.is_empty());
    let seen = world.model.seen();
    begin_alike(&seen);
    let last = seen.last().expect("it was asked");
    expect![[r#"
        User { text: "Earlier turns of this conversation were left out to make room. Your summary of them:\nPage one says hello." }"#]]
    .assert_eq(&format!("{:?}", last.messages[1]));
    let thoughts = format!("{:?}", last.messages);
    assert!(!thoughts.contains("thought 1\"") && thoughts.contains("thought 30"), "with its turn its reasoning goes");
    // A summary is paid for, and is not a turn.
    assert_eq!(outcome.usage.turns as usize, PAGES + 1);
    assert_eq!(seen.len(), PAGES + 1 + with_summary.len());
    let paid: u64 = all.iter().map(|(_, usage)| usage.total_tokens()).sum();
    let replies: u64 = world.events().iter().map(replied).sum();
    assert_eq!(outcome.usage.total_tokens(), replies + paid);
}

/// A reader with a brief that leaves room for two or three pages, and a long summary.
async fn with_a_long_brief() -> (TaskOutcome, Vec<Compaction>) {
    let reader = Reader { takes: WINDOW, says: 0 };
    let model = ScriptedModel::answering(move |request| match reader.answer(request) {
        summary if is_asked(request, "Sum up this conversation") => summary.text(" It matters.".repeat(200)),
        answer => answer,
    });
    let world = Plan { model, ..reader.plan(Some(WINDOW)) }.build();
    let outcome = world.run(ask(&"Read all pages. ".repeat(1700))).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "All pages are read."));
    (outcome, compactions(&world.events()).into_iter().map(|(compaction, _)| compaction).collect())
}

#[tokio::test]
async fn the_space_beside_a_long_brief_lets_the_conversation_grow_again() {
    let (outcome, all) = with_a_long_brief().await;
    assert!(all.len() < 18, "shortened {} times in {} turns", all.len(), outcome.usage.turns);
}

#[tokio::test]
async fn a_summary_with_little_new_is_not_repeated() {
    let (outcome, all) = with_a_long_brief().await;
    let n_summaries = all.iter().filter(|compaction| compaction.summary.is_some()).count();
    assert!((1..=3).contains(&n_summaries), "{n_summaries} summaries in {} turns", outcome.usage.turns);
}

fn replied(event: &Event) -> u64 {
    match &event.fact {
        Fact::ModelReplied { reply, .. } => reply.usage.total_tokens(),
        _ => 0,
    }
}

/// A reader that cannot sum up.
fn speechless(says: usize) -> Plan {
    let reader = Reader { takes: WINDOW, says };
    let model = ScriptedModel::answering(move |request| {
        if is_asked(request, "Sum up this conversation") { reply::status(401) } else { reader.answer(request) }
    });
    Plan { model, ..reader.plan(Some(WINDOW)) }
}

#[tokio::test]
async fn a_digest_stands_in_if_no_summary_comes() {
    let world = speechless(1500).build();
    let outcome = world.run(ask("Read all pages.")).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "All pages are read."));
    let mut all = compactions(&world.events()).into_iter();
    let (summary, usage) = all.find_map(|(one, usage)| Some((one.summary?, usage))).expect("one is needed");
    let lines: Vec<&str> = summary.text.lines().take(5).collect();
    expect![[r#"
        Earlier turns of this conversation were left out to make room. In short:
        You wrote: Page 1 comes next. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters.…
        You called Read page-1.txt
          result: page-1.txt: lines 1-60 of 60
        You wrote: Page 2 comes next. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters. It matters.…"#]]
    .assert_eq(&lines.join("\n"));
    assert!(usage.is_nothing());
}

/// Usage before the first summary, and estimated inputs of the previous call and of the summary itself.
fn before_the_summary(events: &[Event]) -> (u64, u64, u64) {
    let is_paid = |event: &Event| matches!(&event.fact, Fact::Compacted { usage, .. } if !usage.is_nothing());
    let before = &events[..events.iter().position(is_paid).expect("there is a summary")];
    let estimated = before.iter().rev().filter_map(|event| match &event.fact {
        Fact::ModelCalled { input_tokens, .. } => Some(*input_tokens),
        _ => None,
    });
    let [own, call_before]: [u64; 2] = estimated.take(2).collect::<Vec<_>>().try_into().expect("two calls");
    (before.iter().map(replied).sum(), call_before, own)
}

#[tokio::test]
async fn no_summary_is_requested_that_cannot_be_paid_for() {
    let plan = || Reader { takes: WINDOW, says: 1500 }.plan(Some(WINDOW));
    let free = plan().build();
    free.run(ask("Read all pages.")).await;
    let (spent, call_before, own) = before_the_summary(&free.events());
    // The report's share stays set aside; the reply needs 256 tokens at least, of which one is missing.
    let max_tokens = spent + (call_before + 256 + 1024) + own + 255;
    let world = plan().build();
    let limits = Limits { max_tokens: Some(max_tokens), ..Limits::default() };
    let outcome = world.run(TaskRequest { limits, ..ask("Read all pages.") }).await;
    assert_eq!((outcome.reason, outcome.text.as_str()), (Some(Limit::Tokens), "So far."), "{:?}", outcome.error);
    assert!(outcome.usage.total_tokens() <= max_tokens);
    assert!(!world.model.seen().iter().any(|seen| seen.to_string().contains("Sum up this conversation")));
    let all = compactions(&world.events());
    assert!(all.iter().any(|(compaction, usage)| compaction.summary.is_some() && usage.is_nothing()), "{all:?}");
}

#[tokio::test]
async fn f36_a_conversation_that_a_provider_calls_too_long_is_shortened() {
    for window in [None, Some(4 * WINDOW)] {
        let world = Reader { takes: WINDOW, says: 0 }.plan(window).build();
        let outcome = world.run(ask("Read all pages.")).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "All pages are read."), "{window:?}");
        assert!(!compactions(&world.events()).is_empty());
        begin_alike(&world.model.seen());
    }
}

#[tokio::test]
async fn f36_a_task_whose_retry_is_refused_ends_with_what_it_has() {
    let reader = Reader { takes: WINDOW, says: 0 };
    let model = ScriptedModel::answering(move |request| {
        let page = last_call(request).map_or(0, |call| number(&call.arguments));
        if page >= 5 { too_long() } else { reader.answer(request) }
    });
    let world = Plan { model, ..reader.plan(None) }.build();
    let outcome = world.run(ask("Read all pages.")).await;
    assert_eq!((outcome.status, outcome.reason), (Status::Partial, Some(Limit::Context)));
    assert_eq!(outcome.text.trim(), "Page 5 comes next.");
    assert_eq!(world.model.seen().len(), 5 + 2, "it is tried once more, and no more");
}

#[tokio::test]
async fn f36_a_refused_conversation_is_halved_and_a_long_brief_leaves_something() {
    const PAGE: u64 = 12_000;
    for (brief, takes) in [(10, 8_000), (7_000, 13_500)] {
        let model = ScriptedModel::answering(move |request| {
            let usage = Usage { input_tokens: counted(request), ..Usage::default() };
            match last_call(request) {
                None => reply::calls([reply::call("Read", json!({"file_path": "long.txt"}))]).usage(usage),
                Some(_) if counted(request) > takes => too_long(),
                Some(_) => reply::text("It fits.").usage(usage),
            }
        });
        let long = "0123456789 abcde\n".repeat(4 * PAGE as usize / 20);
        let world = Plan::of(model).files(&[("long.txt", long.as_str())]).build();
        let outcome = world.run(ask(&"abc ".repeat(brief))).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "It fits."), "{outcome:?}");
        let last = world.model.seen().pop().expect("it was asked");
        assert!(outputs(&last)[0].len() > 4000, "{:?}", outputs(&last));
    }
}

#[tokio::test]
async fn f36_a_brief_that_does_not_fit_is_a_failure_that_says_so() {
    let world = Plan::of(ScriptedModel::answering(|_| too_long())).build();
    let outcome = world.run(ask("Read all pages.")).await;
    assert_eq!(outcome.status, Status::Failed);
    assert_eq!(outcome.error.map(|error| error.code), Some(FailureCode::ContextLength));
    assert_eq!(world.model.seen().len(), 1, "there is nothing to leave out");
}

/// A main agent that has a child read.
fn parent(reader: Reader, window: Option<u64>) -> Plan {
    let model = ScriptedModel::answering(move |request| {
        let is_main = matches!(request.messages.first(), Some(Message::User { text }) if text == "MAIN");
        let task = json!({"description": "Pages", "prompt": "Read all pages.", "subagent_type": "general-purpose"});
        match request.messages.len() {
            1 if is_main => reply::calls([reply::call("Task", task)]),
            _ if is_main => reply::text("Done."),
            _ => reader.answer(request),
        }
    });
    Plan { model, ..reader.plan(window) }
}

#[tokio::test]
async fn f36_k23_a_child_that_outgrows_its_window_still_reports_to_its_parent() {
    for (window, says) in [(Some(WINDOW), 1500), (Some(WINDOW), 0), (None, 0)] {
        let world = parent(Reader { takes: WINDOW, says }, window).build();
        assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
        let of_depth = |depth: u32| world.events().into_iter().filter(|event| event.depth == depth).collect::<Vec<_>>();
        assert!(compactions(&of_depth(0)).is_empty() && !compactions(&of_depth(1)).is_empty());
        let last = world.seen_by("MAIN").pop().expect("it was asked");
        assert!(outputs(&last)[0].contains("All pages are read."), "{:?}", outputs(&last));
    }
}

#[tokio::test]
async fn new_outputs_that_are_too_long_together_are_cut_and_say_so() {
    let long = "0123456789 abcde\n".repeat(1200);
    let files: Vec<(String, String)> = (1..=8).map(|n| (format!("long-{n}.txt"), long.clone())).collect();
    let model = ScriptedModel::answering(move |request| {
        if counted(request) > WINDOW {
            return too_long();
        }
        let usage = Usage { input_tokens: counted(request), output_tokens: 50, ..Usage::default() };
        let read = |n: usize| reply::call("Read", json!({"file_path": format!("long-{n}.txt")}));
        let small = reply::call("Glob", json!({"pattern": "*-1.txt"}));
        match last_call(request) {
            None => reply::calls((1..=8).map(read).chain([small])).usage(usage),
            Some(_) => reply::text("Enough.").usage(usage),
        }
    });
    let plan = Plan::of(model).files(&files);
    let world = Plan { terms: Terms { window: Some(WINDOW), ..Terms::default() }, ..plan }.build();
    let outcome = world.run(ask("Read all of it.")).await;
    assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "Enough."));
    let last = world.model.seen().pop().expect("it was asked");
    let outputs = outputs(&last);
    assert_eq!(outputs.len(), 9);
    let mark = "[… the rest was left out to make room. Ask for less of it at a time.]";
    for output in &outputs[..8] {
        assert!(output.contains("0123456789") && output.ends_with(mark), "{output}");
    }
    assert!(
        outputs[8].contains("long-1.txt") && !outputs[8].contains("left out"),
        "what is short stays: {}",
        outputs[8]
    );
}

/// The model's last input, and the usage.
fn end_of(site: &Site, outcome: &TaskOutcome) -> (Vec<Message>, u64) {
    let seen = site.seen();
    (seen.last().map(|seen| seen.messages.clone()).unwrap_or_default(), outcome.usage.total_tokens())
}

#[tokio::test]
async fn a_compaction_killed_anywhere_happens_as_a_whole_or_not_at_all() {
    const MAX: u64 = 1_000_000;
    let request = || {
        let limits = Limits { max_tokens: Some(MAX), ..Limits::default() };
        TaskRequest { limits, ..ask("Read all pages.") }
    };
    let plan = || Reader { takes: WINDOW, says: 1500 }.plan(Some(WINDOW));
    let whole = Site::new(plan());
    let first = whole.run(request()).await;
    assert_eq!(first.status, Status::Completed);
    let (last_sent, least) = end_of(&whole, &first);
    let (appends, n_calls) = (whole.journal.appends(), whole.seen().len());
    let (mut site, mut n_lost) = (whole, 0);
    for killed in 1..appends.len() {
        site = site.later(plan(), Relic::of(&appends[..killed]).await);
        let running = site.engine.resume(first.task_id, Resumption::default()).await.expect("it resumes");
        let outcome = running.outcome().await.expect("the journal works");
        assert_eq!((outcome.status, &outcome.text), (Status::Completed, &first.text), "after {killed} appends");
        assert_eq!(outcome.notices, first.notices, "after {killed} appends");
        let (sent, used) = end_of(&site, &outcome);
        assert!(used >= least, "paid work is not forgotten: {used} of {least} after {killed} appends");
        n_lost += usize::from(used > least);
        // A task that had its last word makes no further request.
        if !sent.is_empty() {
            assert_eq!(sent, last_sent, "after {killed} appends");
        }
    }
    assert_eq!(n_lost, n_calls, "each call was lost once");
}

#[tokio::test]
async fn the_cap_on_a_reply_leaves_room_for_the_input_with_and_without_a_limit() {
    for (output_cap, max_tokens) in [(Some(WINDOW), None), (Some(WINDOW), Some(100_000)), (None, Some(100_000))] {
        let model = ScriptedModel::answering(|request| {
            let cap = request.max_output.expect("a cap is sent, or the wire's own would be");
            if counted(request) + cap > WINDOW { too_long() } else { reply::text("It fits.") }
        });
        let terms = Terms { window: Some(WINDOW), output_cap, ..Terms::default() };
        let world = Plan { terms, ..Plan::of(model) }.build();
        let limits = Limits { max_tokens, ..Limits::default() };
        assert_eq!(world.run(TaskRequest { limits, ..ask("MAIN") }).await.text, "It fits.");
    }
}
