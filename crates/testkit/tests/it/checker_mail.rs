//! The checker with background tasks that write to each other and ask questions.

use serde_json::{Value, json};
use sortie_journal::TaskState;
use sortie_protocol::{
    Addressee, CallId, Command, Event, Fact, MailMark, Part, ReportMark, Sender, Status, TaskId, ToolCall, ToolOutput,
};
use sortie_testkit::checker::{Evidence, Stage, check};

use crate::relics::{self, call, ended, finished, id, job, log, replied};

const REPORT: &str = "This is the report of w001.";
const WORD: &str = "A word of the person.";

fn main_id() -> TaskId {
    id(1)
}

fn child_id() -> TaskId {
    id(2)
}

fn calls(turn: u32, calls: &[ToolCall]) -> Fact {
    replied(turn, calls.iter().cloned().map(Part::Call).collect())
}

fn arrived(number: u32, from: Sender, text: &str, call: Option<&str>) -> Fact {
    let call = call.map(|call| CallId(call.to_owned()));
    Fact::MessageArrived { number, from, text: text.to_owned(), command: None, call }
}

fn agent(task: TaskId) -> Sender {
    Sender::Task { task, agent: "main".to_owned() }
}

fn read(reports: &[TaskId], messages: &[u32], text: &str) -> Fact {
    let reports = reports.iter().map(|&child| ReportMark { child, leg: 1 }).collect();
    Fact::MailRead {
        mail: MailMark { reports, messages: messages.to_vec(), ..MailMark::default() },
        text: text.to_owned(),
    }
}

/// A background child asks, is answered, and reports; a person also sends a message.
fn good() -> Evidence {
    let (main, child) = (main_id(), child_id());
    let task = call("main-0-0", "Task", &json!({"prompt": "Do a part.", "run_in_background": true}));
    let answer = call("main-1-0", "SendMessage", &json!({"to": child, "message": "An answer: main-1-0."}));
    let note = call("main-1-1", "Note", &json!({"text": "A note: main-1-1."}));
    let ask = call("w001-0-0", "Ask", &json!({"question": "A question?"}));
    let facts = vec![
        job(main, None, "Have it done."),
        calls(1, std::slice::from_ref(&task)),
        Fact::ChildStarted { call: task.id.clone(), child, background: true },
        finished(&task, ToolOutput::done("it works", "")),
        arrived(1, agent(child), "A question?\n(It waits.)", None),
        read(&[], &[1], "It asks: A question?"),
        calls(2, &[answer.clone(), note.clone()]),
        Fact::NotePosted { text: "A note: main-1-1.".to_owned() },
        finished(&answer, ToolOutput::done("delivered", "")),
        finished(&note, ToolOutput::done("posted", "")),
        Fact::TaskParked { waits_for: vec![child] },
        Fact::ChildEnded { call: task.id.clone(), child, child_leg: 1 },
        read(&[child], &[], &format!("It has ended: {REPORT}")),
        replied(3, vec![Part::Text { text: "Done.".to_owned() }]),
        ended(main, "Done.", 5),
    ];
    let mut answered = ToolOutput::done("It answers: An answer: main-1-0.", "");
    answered.mail.messages = vec![1];
    let part = vec![
        job(child, Some(main), "Do a part."),
        calls(1, std::slice::from_ref(&ask)),
        Fact::QuestionAsked { call: ask.id.clone(), to: Addressee::Parent, text: "A question?".to_owned() },
        arrived(1, agent(main), "An answer: main-1-0.", Some("main-1-0")),
        finished(&ask, answered),
        arrived(2, Sender::Person, WORD, None),
        read(&[], &[2], &format!("It says: {WORD}")),
        replied(2, vec![Part::Text { text: REPORT.to_owned() }]),
        ended(child, REPORT, 2),
    ];
    let user = |text: &str| json!({"role": "user", "content": text});
    let asked = |calls: &[&ToolCall]| {
        let ids: Vec<Value> = calls.iter().map(|call| json!({"id": call.id})).collect();
        json!({"role": "assistant", "tool_calls": ids})
    };
    let output = |call: &ToolCall, text: &str| json!({"role": "tool", "tool_call_id": call.id, "content": text});
    let of_child = json!({"messages": [
        user("Do a part."),
        asked(&[&ask]),
        output(&ask, "It answers: An answer: main-1-0."),
        user(&format!("It says: {WORD}")),
    ]});
    let of_main = json!({"messages": [
        user("Have it done."),
        asked(&[&task]),
        output(&task, "it works"),
        user("It asks: A question?"),
        asked(&[&answer, &note]),
        output(&answer, "delivered"),
        output(&note, "posted"),
        user(&format!("It has ended: {REPORT}")),
    ]});
    Evidence {
        tasks: vec![log(main, 0, facts), log(child, 1, part)],
        requests: vec![of_child, of_main],
        commands: vec![(1, Command::Send { task: child, from: Sender::Person, text: WORD.to_owned() })],
        receipts: vec![(WORD.to_owned(), "delivered".to_owned())],
        ..Evidence::default()
    }
}

fn broken(harm: impl FnOnce(&mut Evidence)) -> Vec<String> {
    relics::broken(good(), harm)
}

/// Returns an event of a task, by its number.
fn event(run: &mut Evidence, task: usize, seq: u64) -> &mut Event {
    run.tasks[task].events.iter_mut().find(|event| event.seq == seq).unwrap()
}

/// Removes an event, and its content from the requests.
fn forget(run: &mut Evidence, task: usize, seq: u64) {
    run.requests.clear();
    run.tasks[task].events.retain(|event| event.seq != seq);
}

/// Repeats an event at the end.
fn repeat(run: &mut Evidence, task: usize, seq: u64) {
    let again = event(run, task, seq).clone();
    run.tasks[task].events.push(Event { seq: 100, ..again });
}

/// Ends a task as stopped.
fn cancel(run: &mut Evidence, task: usize) {
    run.tasks[task].state = TaskState::Ended(Status::Cancelled);
    match &mut run.tasks[task].events.last_mut().unwrap().fact {
        Fact::TaskEnded { outcome } => outcome.status = Status::Cancelled,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_good_run_breaks_nothing_and_is_counted() {
    let findings = check(&good(), Stage::Ended);
    assert_eq!(findings.breaches, [""; 0]);
    let count = findings.count;
    assert_eq!((count.reports_by_mail, count.messages, count.questions, count.answers), (1, 3, 1, 1));
    assert_eq!((count.receipts, count.parked), (1, 1));
}

#[test]
fn a_report_is_read_once_by_its_recipient() {
    assert_eq!(broken(|run| repeat(run, 0, 13)), ["N2"], "twice");
    assert_eq!(broken(|run| forget(run, 0, 13)), ["N2"], "never");
    assert_eq!(broken(|run| run.tasks[0].events.swap(11, 12)), [""; 0], "the numbers count");
    assert_eq!(broken(|run| event(run, 0, 12).seq = 50), ["N2"], "before it came");
    assert_eq!(broken(|run| forget(run, 0, 12)), ["N2"], "undelivered");
    assert_eq!(broken(|run| repeat(run, 0, 12)), ["N2"], "delivered twice");
    assert!(broken(|run| drop(run.tasks.remove(1))).contains(&"N2".to_owned()), "of a missing task");
}

#[test]
fn a_report_may_be_unread_if_its_reader_was_stopped() {
    let stopped = |run: &mut Evidence| {
        forget(run, 0, 13);
        cancel(run, 0);
        run.commands.push((2, Command::Stop { task: main_id() }));
    };
    assert_eq!(broken(stopped), [""; 0]);
}

#[test]
fn an_adopted_report_is_read_by_its_adopter() {
    let adopted = |run: &mut Evidence| {
        // Its parent ended before reading it, and a third task is above the parent.
        match &mut event(run, 0, 1).fact {
            Fact::TaskStarted { job } => job.config.depth = 1,
            other => panic!("{other:?}"),
        }
        run.requests.clear();
        run.tasks.push(log(id(3), 0, vec![job(id(3), None, "Above."), ended(id(3), "Above.", 0)]));
        cancel(run, 0);
        run.commands.push((2, Command::Stop { task: main_id() }));
        let mut reading = event(run, 0, 13).clone();
        forget(run, 0, 13);
        let adoption = Fact::ChildAdopted { child: child_id(), ended_leg: Some(1) };
        let adoption = Event { seq: 20, task_id: id(3), fact: adoption, ..reading.clone() };
        (reading.seq, reading.task_id) = (21, id(3));
        run.tasks[2].events.push(adoption);
        run.tasks[2].events.push(reading);
    };
    assert_eq!(broken(adopted), [""; 0]);
    let unread = |run: &mut Evidence| {
        adopted(run);
        run.tasks[2].events.pop();
    };
    assert_eq!(broken(unread), ["N2"]);
}

#[test]
fn a_message_is_read_once_and_not_before_it_arrives() {
    assert_eq!(broken(|run| repeat(run, 1, 7)), ["N2"], "read twice");
    assert_eq!(broken(|run| forget(run, 1, 7)), ["N2"], "never read");
    assert_eq!(broken(|run| forget(run, 1, 6)), ["N2", "N2"], "never came, though that was acknowledged");
    assert_eq!(broken(|run| repeat(run, 1, 6)), ["N2", "N2"], "came twice");
    assert_eq!(broken(|run| run.requests[0]["messages"][3]["content"] = json!("?")), ["N2"], "not in the request");
}

#[test]
fn a_kept_message_reaches_its_task_when_it_resumes() {
    let kept = |run: &mut Evidence| {
        run.receipts[0].1 = "kept".to_owned();
        forget(run, 1, 7);
        forget(run, 1, 6);
    };
    assert_eq!(broken(kept), ["N2"]);
    let stopped = |run: &mut Evidence| {
        kept(run);
        cancel(run, 1);
        run.commands.push((2, Command::Stop { task: child_id() }));
    };
    assert_eq!(broken(stopped), [""; 0], "it never continued");
}

#[test]
fn a_call_that_sends_or_posts_does_so_once_and_is_reported_truthfully() {
    assert_eq!(broken(|run| forget(run, 0, 8)), ["N3"], "a missing note");
    assert_eq!(broken(|run| repeat(run, 0, 8)), ["N3"], "a note twice");
    let unsent = |run: &mut Evidence| match &mut event(run, 1, 4).fact {
        Fact::MessageArrived { call, .. } => *call = None,
        other => panic!("{other:?}"),
    };
    assert_eq!(broken(unsent), ["N3"]);
    let failed = |run: &mut Evidence| match &mut event(run, 0, 9).fact {
        Fact::CallFinished { output, .. } => output.output = ToolOutput::failure("delivered"),
        other => panic!("{other:?}"),
    };
    assert_eq!(broken(failed), ["N3"]);
    let stopped_before_it_read_it = |run: &mut Evidence| {
        failed(run);
        // It is stopped while it waits for the answer.
        for seq in 5..=8 {
            forget(run, 1, seq);
        }
        cancel(run, 1);
        run.commands = vec![(2, Command::Stop { task: child_id() })];
        run.receipts.clear();
    };
    let breaches = broken(stopped_before_it_read_it);
    assert!(!breaches.contains(&"N3".to_owned()), "{breaches:?}");
}

#[test]
fn an_answer_comes_after_its_question() {
    assert_eq!(broken(|run| event(run, 1, 3).seq = 50), ["N2"]);
    assert_eq!(broken(|run| repeat(run, 1, 3)), ["N2"], "asked twice");
}

#[test]
fn only_stopped_tasks_are_cancelled() {
    assert_eq!(broken(|run| cancel(run, 1)), ["N2"]);
    let stopped = |run: &mut Evidence| {
        cancel(run, 1);
        run.commands.push((2, Command::Stop { task: main_id() }));
    };
    assert_eq!(broken(stopped), [""; 0], "one above it was");
}
