//! Outcomes that are kept, and those that are not.

use super::*;

#[tokio::test]
async fn only_a_task_that_read_nothing_outside_the_digest_is_kept() {
    let written = ToolOutput { files_changed: vec!["a.txt".to_owned()], ..ToolOutput::done("", "") };
    let refused = CallOutput { call: "1".into(), output: ToolOutput::failure("no") };
    let person = || Fact::MessageArrived {
        number: 1,
        from: Sender::Person,
        text: "hurry".to_owned(),
        command: None,
        call: None,
    };
    let table: Vec<(&str, Vec<Fact>, bool)> = vec![
        ("nothing", Vec::new(), true),
        ("a list and a search", vec![called("LS", "{}"), called("Glob", r#"{"pattern":"**"}"#)], true),
        ("notes to itself", vec![called("TodoWrite", r#"{"todos":[]}"#)], true),
        (
            "a child that was answered from here, too",
            vec![called("Task", "{}"), Fact::OutcomeGiven { call: "1".into(), from: task(9) }],
            true,
        ),
        ("an ignored file", vec![called("Read", r#"{"file_path":"ignored.tmp"}"#)], false),
        ("an absent file", vec![called("Read", r#"{"file_path":"absent"}"#)], false),
        ("a command", vec![called("Bash", r#"{"command":"date"}"#)], false),
        ("the web", vec![called("WebFetch", r#"{"url":"https://example.com"}"#)], false),
        ("a tool of a server", vec![called("mcp__notes__read", "{}")], false),
        ("a write", vec![called("Write", r#"{"file_path":"a.txt","content":"one"}"#)], false),
        ("a change that a reading tool tells of", vec![called("LS", "{}"), returned(written)], false),
        ("a call that did not run", vec![called("LS", "{}"), returned(ToolOutput::not_run("no"))], false),
        ("a refusal", vec![Fact::CallFinished { output: refused, refused: true }], false),
        ("a message", vec![person()], false),
        ("a note for others", vec![Fact::NotePosted { text: "x".to_owned() }], false),
        ("a person's yes", vec![Fact::ApprovalAnswered { call: "1".into(), answer: ApprovalAnswer::Once }], false),
        ("something unknown", vec![Fact::Unknown], false),
    ];
    for (what, facts, is_kept) in table {
        assert_eq!(World::new().is_kept_after(facts).await, is_kept, "{what}");
    }
}

#[tokio::test]
async fn an_outcome_that_is_not_completed_or_changed_a_file_is_not_kept() {
    for (change, what) in [
        ((|outcome| outcome.status = Status::Partial) as fn(&mut TaskOutcome), "partial"),
        (|outcome| outcome.status = Status::Failed, "failed"),
        (|outcome| outcome.files_changed.push("a.txt".to_owned()), "changed a file"),
    ] {
        let (world, job) = (World::new(), job(0));
        let ticket = world.ticket(&job);
        let mut outcome = outcome(&job, "some text");
        change(&mut outcome);
        world.end(&job, reading(), outcome).await;
        world.remember(&ticket);
        assert!(world.hit(&again(&job)).is_none(), "{what}");
    }
}

#[tokio::test]
async fn the_actions_of_children_count_as_well() {
    for (tool, arguments, is_kept) in [("LS", "{}", true), ("Bash", r#"{"command":"date"}"#, false)] {
        let (world, parent) = (World::new(), job(0));
        let child = Job { parent: Some(parent.task), root: parent.task, ..job(1) };
        let ticket = world.ticket(&parent);
        let start = Fact::TaskStarted { job: Box::new(parent.clone()) };
        world.append(&parent, 1, vec![start, called("Task", "{}")]).await;
        world.work(&child, vec![called(tool, arguments)]).await;
        let end = Fact::TaskEnded { outcome: Box::new(outcome(&parent, "done")) };
        world.append(&parent, 1, vec![end]).await;
        world.remember(&ticket);
        assert_eq!(world.hit(&again(&parent)).is_some(), is_kept, "{tool}");
    }
}

#[tokio::test]
async fn an_outcome_is_not_kept_if_files_changed_meanwhile() {
    let (world, job) = (World::new(), job(0));
    let ticket = world.ticket(&job);
    world.work(&job, reading()).await;
    let (now, then) = (world.path("a.txt"), world.path("a.tmp"));
    fs::rename(&now, &then).unwrap();
    fs::write(&now, "one").unwrap();
    world.remember(&ticket);
    assert!(world.hit(&again(&job)).is_none());
}

#[tokio::test]
async fn a_task_that_was_resumed_or_is_gone_is_not_reused() {
    let (world, first) = (World::new(), job(0));
    assert!(world.is_kept_after(reading()).await);
    let config = Box::new(first.config.clone());
    let resumed = Fact::TaskResumed { prompt: None, title: None, config, notices: Vec::new(), alone: true };
    world.append(&first, 2, vec![resumed]).await;
    assert!(world.hit(&again(&first)).is_none(), "it works again");
    world.append(&first, 2, vec![Fact::TaskEnded { outcome: Box::new(outcome(&first, "else")) }]).await;
    assert!(world.hit(&again(&first)).is_none(), "another leg has ended");

    let gone = World { journal: MemoryJournal::new(), ..world };
    assert!(gone.hit(&again(&first)).is_none(), "no log has it");
}
