//! The checker of a killed run's traces: it must find each kind of breach, and report no other.

use serde_json::{Value, json};
use sortie_journal::{SqliteJournal, TaskState};
use sortie_protocol::{Event, Fact, Part, Timestamp, ToolCall, ToolOutput, Usage};
use sortie_testkit::checker::{Evidence, Kept, Stage, Version, check, left_below};

use crate::relics::{self, call, ended, finished, id, job, log, replied};

const PROMPT: &str = "Have it done.";
const REPORT: &str = "This is the report of w001.";
const UNKNOWN: &str = "unknown: the program was stopped while this call ran.";

/// Calls of the main agent in its one turn with calls.
fn calls() -> [ToolCall; 3] {
    [
        call("main-0-0", "Bash", &json!({"command": "echo main-0-0 >> effects.log"})),
        call("main-0-1", "Edit", &json!({"file_path": "a.txt", "old_string": "open", "new_string": "by main-0-1"})),
        call("main-0-2", "Task", &json!({"prompt": "Do a part."})),
    ]
}

/// A file that existed before the run.
fn kept(path: &str, before: &str, now: &str) -> (String, Kept) {
    let version = |text: &str| Version { bytes: text.as_bytes().to_vec(), mode: 0o100_640 };
    (path.to_owned(), Kept { before: version(before), now: Some(version(now)) })
}

/// A run with a good end: a command, an edit and a child.
fn good() -> Evidence {
    let (main, child) = (id(1), id(2));
    let calls = calls();
    let started = |call: &ToolCall| Fact::CallStarted { call: call.clone(), idempotent: false };
    let mut facts = vec![job(main, None, PROMPT), replied(1, calls.iter().cloned().map(Part::Call).collect())];
    facts.extend(calls.iter().map(started));
    facts.extend([
        Fact::ChildStarted { call: calls[2].id.clone(), child, background: false },
        finished(&calls[0], ToolOutput::done("no output", "")),
        finished(&calls[1], ToolOutput::done("edited", "")),
        Fact::ChildEnded { call: calls[2].id.clone(), child, child_leg: 1 },
        finished(&calls[2], ToolOutput::done(format!("It said: {REPORT}"), "")),
        replied(2, vec![Part::Text { text: "Done.".to_owned() }]),
        ended(main, "Done.", 3),
    ]);
    let part = vec![
        job(child, Some(main), "Do a part."),
        replied(1, vec![Part::Text { text: REPORT.to_owned() }]),
        ended(child, REPORT, 1),
    ];
    let asked = calls.iter().map(|call| json!({"id": call.id})).collect::<Vec<_>>();
    let told = format!("It said: {REPORT}");
    let outputs = [("main-0-0", "no output"), ("main-0-1", "edited"), ("main-0-2", told.as_str())];
    let outputs = outputs.map(|(id, content)| json!({"role": "tool", "tool_call_id": id, "content": content}));
    let mut messages =
        vec![json!({"role": "user", "content": PROMPT}), json!({"role": "assistant", "tool_calls": asked})];
    messages.extend(outputs);
    let tasks = vec![log(main, 0, facts), log(child, 1, part)];
    Evidence {
        shown: tasks[0].events.clone(),
        tasks,
        effects: vec!["main-0-0".to_owned()],
        files: [("a.txt".to_owned(), "by main-0-1\nrest\n".to_owned())].into(),
        kept: [kept("a.txt", "open\nrest\n", "by main-0-1\nrest\n"), kept("b.txt", "theirs", "theirs")].into(),
        requests: vec![json!({"messages": messages})],
        ..Evidence::default()
    }
}

/// Invariants that a good run breaks after this damage.
fn broken(harm: impl FnOnce(&mut Evidence)) -> Vec<String> {
    relics::broken(good(), harm)
}

/// Removes the main agent's events of this kind.
fn forget(evidence: &mut Evidence, kind: &str) {
    evidence.shown.clear();
    evidence.tasks[0].events.retain(|event| event.fact.kind() != kind);
}

/// Repeats an event of the main agent.
fn repeat(evidence: &mut Evidence, kind: &str) {
    let events = &mut evidence.tasks[0].events;
    let again = events.iter().find(|event| event.fact.kind() == kind).unwrap().clone();
    events.push(Event { seq: 100, ..again });
}

/// Gives a call of the main agent another answer.
fn answer(evidence: &mut Evidence, call: &str, text: &str) {
    evidence.shown.clear();
    for event in &mut evidence.tasks[0].events {
        match &mut event.fact {
            Fact::CallFinished { output, .. } if output.call.0 == call => output.output = ToolOutput::failure(text),
            _ => {}
        }
    }
    for message in evidence.requests[0]["messages"].as_array_mut().unwrap() {
        if message["tool_call_id"] == call {
            message["content"] = json!(text);
        }
    }
}

#[test]
fn a_good_run_breaks_nothing_and_is_counted() {
    let findings = check(&good(), Stage::Ended);
    assert_eq!(findings.breaches, [""; 0]);
    let count = findings.count;
    assert_eq!((count.tasks, count.calls, count.effects, count.changes, count.requests), (2, 3, 1, 1, 1));
    assert_eq!(count.kept, 2);
    assert_eq!(count.shown, count.events - 3);
}

#[test]
fn shown_events_must_be_in_the_journal_unchanged() {
    assert_eq!(broken(|run| drop(run.tasks[0].events.remove(3))), ["N1"]);
    assert_eq!(broken(|run| run.shown[3].time = Timestamp(0)), ["N1"]);
    assert_eq!(broken(|run| run.effects.push("main-7-7".to_owned())), ["N1"]);
    assert_eq!(broken(|run| forget(run, "call_started")), ["N1"], "an effect without its start");
}

#[test]
fn a_leg_ends_once_and_a_child_is_delivered_once() {
    assert_eq!(broken(|run| repeat(run, "task_ended")), ["N2"]);
    assert_eq!(broken(|run| repeat(run, "child_ended")), ["N2"]);
    assert_eq!(broken(|run| forget(run, "child_ended")), ["N2"]);
    assert_eq!(broken(|run| run.tasks[1].state = TaskState::Interrupted), ["N2"]);
    assert_eq!(broken(|run| repeat(run, "child_started")), ["N2"]);
    assert_eq!(broken(|run| answer(run, "main-0-2", "it said nothing")), ["N2"]);
    assert_eq!(broken(|run| run.requests[0]["messages"][4]["content"] = json!("nothing")), ["N2"]);
}

#[test]
fn an_effect_happens_at_most_once_and_is_reported_truthfully() {
    assert_eq!(broken(|run| run.effects.push("main-0-0".to_owned())), ["N3"]);
    assert_eq!(broken(|run| run.effects.clear()), ["N3"]);
    assert_eq!(broken(|run| answer(run, "main-0-0", "it could not be run")), ["N3"]);
    assert_eq!(broken(|run| answer(run, "main-0-0", UNKNOWN)), [""; 0], "it is unknown, and was reported so");
    assert_eq!(broken(|run| repeat(run, "call_started")), ["N3"]);
}

#[test]
fn the_usage_of_a_tree_is_that_of_its_replies() {
    let costs_more = |run: &mut Evidence| match &mut run.tasks[1].events[1].fact {
        Fact::ModelReplied { reply, .. } => reply.usage.output_tokens += 1,
        other => panic!("{other:?}"),
    };
    assert_eq!(broken(costs_more), ["N5"]);
}

#[test]
fn a_call_without_a_reply_counts_its_reported_usage_or_its_reservation() {
    let one = Usage { output_tokens: 1, ..Usage::default() };
    let before_the_end = |run: &mut Evidence, fact: Fact| {
        let at = run.tasks[1].events.len() - 1;
        let event = Event { fact, ..run.tasks[1].events[at].clone() };
        run.tasks[1].events.insert(at, event);
    };
    let called = || Fact::ModelCalled { turn: 2, input_tokens: 0, reserved: one };
    let used_one_more = |facts: &[Fact]| {
        broken(|run| {
            run.shown.clear();
            match &mut run.tasks[0].events.last_mut().unwrap().fact {
                Fact::TaskEnded { outcome } => outcome.usage.output_tokens += 1,
                other => panic!("{other:?}"),
            }
            for fact in facts {
                before_the_end(run, fact.clone());
            }
        })
    };
    assert_eq!(used_one_more(&[]), ["N5"]);
    assert_eq!(used_one_more(&[called()]), [""; 0]);
    assert_eq!(used_one_more(&[Fact::ModelLost { turn: 2, usage: one }]), [""; 0]);
    assert_eq!(used_one_more(&[called(), Fact::ModelLost { turn: 2, usage: one }]), [""; 0], "not twice");
    assert_eq!(used_one_more(&[called(), called()]), ["N5"], "both were made");
}

#[test]
fn no_stray_files_remain() {
    assert_eq!(broken(|run| run.strays.push("workspace/x".to_owned())), ["N6"]);
}

#[test]
fn a_process_that_works_in_a_folder_is_found_until_it_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").current_dir(&path).spawn().unwrap();
    let found = left_below(&path);
    // Its arguments may not be readable yet.
    assert!(found.len() == 1 && found[0].starts_with(&format!("{} ", child.id())), "{found:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(left_below(&path), [""; 0]);
}

#[test]
fn every_call_has_one_output_in_its_place() {
    assert_eq!(broken(|run| repeat(run, "call_finished")), ["N7"]);
    assert_eq!(broken(|run| run.refusals.push(400)), ["N7"]);
    let messages = |run: &mut Evidence, change: fn(&mut Vec<Value>)| {
        change(run.requests[0]["messages"].as_array_mut().unwrap());
    };
    assert_eq!(broken(|run| messages(run, |all| all.swap(2, 3))), ["N7"]);
    assert_eq!(broken(|run| messages(run, |all| drop(all.remove(3)))), ["N7", "N2"], "so the task is not told");
    assert_eq!(broken(|run| messages(run, |all| all.insert(3, json!({"role": "user", "content": "?"})))), ["N7"]);
    assert_eq!(broken(|run| messages(run, |all| all.push(json!({"role": "assistant"})))), ["N7"]);
}

#[test]
fn an_edit_reported_as_done_is_in_the_file() {
    assert_eq!(broken(|run| run.files.clear()), ["N9"]);
    assert_eq!(broken(|run| answer(run, "main-0-1", "the file has changed")), ["N9"]);
    assert_eq!(broken(|run| answer(run, "main-0-1", UNKNOWN)), [""; 0]);
}

#[test]
fn a_written_file_holds_exactly_its_content() {
    let writes = |run: &mut Evidence, content: &str| {
        let arguments = json!({"file_path": "a.txt", "content": content});
        run.shown.clear();
        for event in &mut run.tasks[0].events {
            if let Fact::ModelReplied { reply, .. } = &mut event.fact
                && let Some(Part::Call(call)) = reply.parts.get_mut(1)
            {
                *call = self::call("main-0-1", "Write", &arguments);
            }
        }
    };
    assert_eq!(broken(|run| writes(run, "by main-0-1\nrest\n")), [""; 0]);
    assert_eq!(broken(|run| writes(run, "by main-0-1\n")), ["N9"]);
}

#[test]
fn earlier_files_differ_only_by_the_changes_of_calls() {
    let change = |run: &mut Evidence, path: &str, change: fn(&mut Version)| {
        change(run.kept.get_mut(path).unwrap().now.as_mut().unwrap());
    };
    assert_eq!(broken(|run| run.kept.get_mut("b.txt").unwrap().now = None), ["N15"]);
    assert_eq!(broken(|run| change(run, "b.txt", |now| now.bytes.push(b'!'))), ["N15"]);
    assert_eq!(broken(|run| change(run, "b.txt", |now| now.mode = 0o100_644)), ["N15"]);
    assert_eq!(broken(|run| change(run, "a.txt", |now| now.bytes.truncate(12))), ["N15"], "next to an edit");
    let undone = |now: &mut Version| now.bytes = b"open\nrest\n".to_vec();
    assert_eq!(broken(|run| change(run, "a.txt", undone)), [""; 0], "the presence of an edit is another matter");
}

#[test]
fn earlier_files_of_any_kind_are_read_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for directory in ["before/kept", "workspace/kept", "state"] {
        std::fs::create_dir_all(path(directory)).unwrap();
    }
    std::fs::write(path("before/kept/a"), b"\xff\0").unwrap();
    std::fs::write(path("before/kept/b"), "").unwrap();
    std::fs::copy(path("before/kept/a"), path("workspace/kept/a")).unwrap();
    drop(SqliteJournal::open(&path("state/journal.db")).unwrap());
    let kept = Evidence::gather(folder.path()).unwrap().kept;
    assert_eq!(kept.len(), 2);
    assert_eq!(kept["kept/a"].now, Some(kept["kept/a"].before.clone()));
    assert_eq!((kept["kept/a"].before.bytes.as_slice(), &kept["kept/b"].now), (&b"\xff\0"[..], &None));
}

#[test]
fn a_killed_run_may_lack_its_last_events() {
    let mut evidence = good();
    evidence.shown.clear();
    evidence.requests.clear();
    evidence.tasks[0].events.truncate(6);
    evidence.tasks[1].events.truncate(1);
    evidence.tasks.iter_mut().for_each(|task| task.state = TaskState::Interrupted);
    assert_eq!(check(&evidence, Stage::Killed).breaches, [""; 0]);
    assert!(!check(&evidence, Stage::Ended).breaches.is_empty());
}
