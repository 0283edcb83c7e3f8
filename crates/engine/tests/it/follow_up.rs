//! Calls that resume an ended sub-agent, and the reasons why some are refused.

use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use sortie_engine::{EngineSettings, Resumption};
use sortie_journal::Journal as _;
use sortie_protocol::{Fact, Message, Status, TaskRequest};
use sortie_testkit::{Script, reply, when};

use super::support::{Plan, World, ask, restless};

/// The first task that a main agent starts.
const CHILD: &str = "agent-aaaaaaaaaaab";

fn task(prompt: &str) -> Value {
    json!({"description": "Part", "prompt": prompt, "subagent_type": "explore"})
}

fn resume(id: &str, prompt: &str) -> Value {
    json!({"description": "More", "prompt": prompt, "subagent_type": "explore", "resume": id})
}

/// A main agent that has a part done, then makes these calls, then ends; its sub-agents answer their last prompt.
fn script(second: Vec<Value>) -> Script {
    let calls = second.into_iter().map(|arguments| reply::call("Task", arguments));
    Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", task("FIRST"))]))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls(calls.collect::<Vec<_>>()))
        .on(when::prompt_contains("MAIN"), reply::text("Done."))
        .on(when::last_contains("SECOND"), reply::text("The second part."))
        .otherwise(reply::text("The first part."))
}

/// Outputs of the main agent's calls in its second turn.
fn answers(world: &World) -> Vec<String> {
    let last = world.seen_by("MAIN").pop().expect("the main agent was asked");
    match last.messages.last() {
        Some(Message::Outputs { outputs }) => outputs.iter().map(|output| output.output.for_model.clone()).collect(),
        other => panic!("no outputs: {other:?}"),
    }
}

/// The refusal that a main agent under these rules gets when it resumes a task.
async fn refusal(rules: EngineSettings, id: &str) -> String {
    let world = Plan::script(script(vec![resume(id, "SECOND")])).rules(rules).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    assert!(world.seen_by("SECOND").is_empty(), "nobody was asked");
    answers(&world).remove(0)
}

#[tokio::test]
async fn a_call_resumes_a_child_in_a_new_leg_of_the_same_task() {
    let world = Plan::script(script(vec![resume(CHILD, "SECOND")])).build();
    let outcome = world.run(ask("MAIN")).await;
    assert_eq!((outcome.status, outcome.usage.turns), (Status::Completed, 5), "each turn counts once");
    let child = world.seen_by("FIRST");
    assert_eq!(child.len(), 2);
    let before = child[0].messages.len();
    assert_eq!(child[1].messages[..before], child[0].messages, "the conversation continues as it was");
    assert_eq!(child[1].messages.last(), Some(&Message::User { text: "SECOND".to_owned() }));
    expect![[r#"
        task-1 #1 task_started main "a question": "MAIN"
        task-1 #2 task_admitted
        task-1 #3 model_called turn 1
        task-1 #4 model_replied turn 1: call_0_1 Task {"description":"Part","prompt":"FIRST","subagent_type":"explore"}
        task-1 #5 call_started call_0_1: Task {"description":"Part","prompt":"FIRST","subagent_type":"explore"} (once)
          task-2 #1 task_started explore "Part": "FIRST"
        task-1 #6 child_started call_0_1: task-2
          task-2 #2 task_admitted
          task-2 #3 model_called turn 1
          task-2 #4 model_replied turn 1: "The first part."
          task-2 #5 task_ended completed: "The first part."
        task-1 #7 child_ended call_0_1: task-2 leg 1
        task-1 #8 call_finished call_0_1: "task-2 explore completed, 0 calls, 156 tokens, … s\n[report mark]\nThe first part.\n[end mark]"
        task-1 #9 model_called turn 2
        task-1 #10 model_replied turn 2: call_1_1 Task {"description":"More","prompt":"SECOND","subagent_type":"explore","resume":"task-2"}
        task-1 #11 call_started call_1_1: Task {"description":"More","prompt":"SECOND","subagent_type":"explore","resume":"task-2"} (once)
          task-2 leg 2 #6 task_resumed explore: "SECOND"
        task-1 #12 child_started call_1_1: task-2
          task-2 leg 2 #7 task_admitted
          task-2 leg 2 #8 model_called turn 2
          task-2 leg 2 #9 model_replied turn 2: "The second part."
          task-2 leg 2 #10 task_ended completed: "The second part."
        task-1 #13 child_ended call_1_1: task-2 leg 2
        task-1 #14 call_finished call_1_1: "task-2 explore completed, 0 calls, 318 tokens, … s\n[report mark]\nThe second part.\n[end mark]"
        task-1 #15 model_called turn 3
        task-1 #16 model_replied turn 3: "Done."
        task-1 #17 task_ended completed: "Done." Task×2
    "#]].assert_eq(&world.transcript());
}

#[tokio::test]
async fn a_call_for_an_unknown_or_unended_task_starts_nothing() {
    expect!["No sub-agent was started (no_such_task): there is no task `agent-zzzzzzzzzzzz`"]
        .assert_eq(&refusal(EngineSettings::default(), "agent-zzzzzzzzzzzz").await);
    expect!["No sub-agent was started (no_such_task): there is no task `the one before`"]
        .assert_eq(&refusal(EngineSettings::default(), "the one before").await);
    let itself = refusal(EngineSettings::default(), "agent-aaaaaaaaaaaa").await;
    assert!(itself.contains("agent-aaaaaaaaaaaa is still running"), "{itself}");
}

#[tokio::test]
async fn a_task_of_another_tree_is_not_resumed() {
    let world = Plan::script(script(vec![resume("agent-aaaaaaaaaaaa", "SECOND")])).build();
    let request = TaskRequest { agent: "explore".to_owned(), ..ask("FIRST") };
    let alone = world.engine.task(request).await.expect("it starts").outcome().await.expect("the journal works");
    assert_eq!(alone.task_id.to_string(), "agent-aaaaaaaaaaaa");
    world.run(ask("MAIN")).await;
    expect!["No sub-agent was started (not_own_task): agent-aaaaaaaaaaaa is not a sub-agent of this task; only its parent can resume it"].assert_eq(&answers(&world)[0]);
}

#[tokio::test]
async fn a_message_to_an_ended_child_without_background_work_suggests_a_call() {
    let send = json!({"to": CHILD, "message": "SECOND"});
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", task("FIRST"))]))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call("SendMessage", send)]))
        .otherwise(reply::text("Done."));
    let refused = async |rules: EngineSettings| {
        let world = Plan::script(script.clone()).rules(rules).build();
        assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
        assert!(world.seen_by("SECOND").is_empty(), "nobody was asked");
        answers(&world).remove(0)
    };
    let waiting = EngineSettings { background: false, ..EngineSettings::default() };
    expect!["agent-aaaaaaaaaaab has ended, and background work is switched off here (`task_tool.background`); to resume it, call Task with its id as `resume`"].assert_eq(&refused(waiting.clone()).await);
    let neither = refused(EngineSettings { resume_within: None, ..waiting }).await;
    assert!(neither.contains("`task_tool.resume` is false"), "{neither}");
}

#[tokio::test]
async fn calls_can_resume_a_task_for_some_days_if_that_is_switched_on() {
    let off = EngineSettings { resume_within: None, ..EngineSettings::default() };
    expect!["No sub-agent was started (resume_off): resuming a task is switched off (`task_tool.resume` is false); start a new one"].assert_eq(&refusal(off, CHILD).await);
    let short = EngineSettings { resume_within: Some(Duration::ZERO), ..EngineSettings::default() };
    expect!["No sub-agent was started (expired): agent-aaaaaaaaaaab has expired: it ended 0 days ago, and a call can resume a task for 0 (`task_tool.resume_days`); start a new one"].assert_eq(&refusal(short, CHILD).await);
}

#[tokio::test]
async fn one_of_two_simultaneous_calls_resumes_the_task() {
    let world = Plan::script(script(vec![resume(CHILD, "SECOND"), resume(CHILD, "SECOND")])).build();
    world.run(ask("MAIN")).await;
    let answers = answers(&world);
    let goes_on = answers.iter().filter(|answer| answer.contains("The second part.")).count();
    let is_refused = answers.iter().filter(|answer| answer.contains("(still_running)")).count();
    // One after the other, if the first was quick.
    assert!(goes_on + is_refused == 2 && goes_on >= 1, "{answers:?}");
    let legs = world.journal.read(CHILD.parse().expect("an id")).expect("it is there");
    assert_eq!(legs.last().map(|event| event.leg), Some(1 + u32::try_from(goes_on).expect("few")), "no leg runs twice");
}

#[tokio::test]
async fn a_caller_without_a_parent_resumes_a_child_directly() {
    let world = Plan::script(script(Vec::new())).build();
    let main = world.run(ask("MAIN")).await;
    let request = TaskRequest {
        agent: "plan".to_owned(),
        model: Some("light".to_owned()),
        resume: Some(CHILD.to_owned()),
        ..ask("SECOND")
    };
    let child = world.engine.task(request).await.expect("it resumes").outcome().await.expect("the journal works");
    assert_eq!((child.task_id.to_string().as_str(), child.text.as_str()), (CHILD, "The second part."));
    assert_eq!(child.agent, "explore");
    expect![[r#"
        requested `plan`; the task keeps its agent `explore`
        requested `light`; the task keeps its model `scripted`"#]]
    .assert_eq(&child.notices.join("\n"));
    let follow_up = Resumption { prompt: Some("SECOND, again".to_owned()), ..Resumption::default() };
    let again = world.engine.resume(child.task_id, follow_up).await.expect("it resumes").outcome().await;
    assert_eq!(again.expect("the journal works").usage.turns, 3);
    let parent = world.journal.read(main.task_id).expect("it is there");
    assert!(parent.iter().all(|event| event.leg == 1), "its parent has nothing to do with it");
}

/// Turns and notices of a sub-agent that lists as long as it can, when a call resumes it with so many turns.
async fn turns_of_follow_up(plan: impl FnOnce(Script) -> Plan, agent: &str, turns: u64) -> (u64, Vec<String>) {
    let mut first = task("FIRST");
    let mut second = resume(CHILD, "SECOND");
    for (arguments, max_turns) in [(&mut first, 1), (&mut second, turns)] {
        arguments["subagent_type"] = json!(agent);
        arguments["limits"] = json!({"max_turns": max_turns});
    }
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", first)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call("Task", second)]))
        .on(when::prompt_contains("MAIN"), reply::text("Done."))
        .on(when::last_contains("limit"), reply::text("So far: nothing."));
    let world = plan(restless(script)).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    let ending = world.journal.ending(CHILD.parse().expect("an id")).expect("the journal reads").expect("it ended");
    // One turn and a report before, and a report after.
    (ending.usage.turns - 3, ending.notices)
}

#[tokio::test]
async fn a_resuming_call_gets_as_many_turns_as_a_new_one() {
    assert_eq!(turns_of_follow_up(Plan::script, "explore", 7).await, (7, Vec::new()), "not the one that it began with");
    let (turns, notices) = turns_of_follow_up(Plan::script, "explore", 500).await;
    assert_eq!((turns, notices.join("\n").as_str()), (30, "500 turns were asked for; `explore` has 30"));
    let file = "---\nname: brief\ndescription: Few words\ntools: LS\nmaxTurns: 4\n---\nLook.";
    let by_file = |script| Plan::script(script).files(&[(".sortie/agents/brief.md", file)]).agent_files();
    assert_eq!(turns_of_follow_up(by_file, "brief", 9).await.0, 4, "never beyond its definition");
}

#[tokio::test]
async fn a_resuming_call_stays_within_its_parents_budget_and_the_settings() {
    let script = script(vec![resume(CHILD, "SECOND")]);
    let rules = EngineSettings {
        default_timeout: Duration::from_secs(50),
        max_tokens: Some(10_000),
        ..EngineSettings::default()
    };
    let world = Plan::script(script).rules(rules).build();
    world.run(ask("MAIN")).await;
    let events = world.journal.read(CHILD.parse().expect("an id")).expect("the journal reads");
    let resumed = events.iter().find_map(|event| match &event.fact {
        Fact::TaskResumed { config, .. } => Some(config.limits),
        _ => None,
    });
    let resumed = resumed.expect("it resumed");
    assert_eq!((resumed.max_turns, resumed.timeout), (Some(30), Some(Duration::from_secs(50))));
    let used = resumed.max_tokens.expect("a bound") - 10_000;
    assert!(used > 0 && used < 1_000, "the settings' tokens, beyond the {used} of the first leg");
}

#[tokio::test]
async fn a_background_resumption_is_announced_without_old_notices() {
    let (mut first, mut second) = (task("FIRST"), resume(CHILD, "SECOND"));
    first["limits"] = json!({"max_turns": 500});
    second["run_in_background"] = json!(true);
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", first)]))
        .on(when::prompt_contains("MAIN").turn(1), reply::calls([reply::call("Task", second)]))
        .otherwise(reply::text("Done."));
    let world = Plan::script(script).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    let told = world.transcript();
    let answers: Vec<&str> = told.lines().filter(|line| line.contains("call_finished")).collect();
    assert!(answers[0].contains("notice: 500 turns were asked for"), "{answers:?}");
    assert!(answers[1].contains("running in the background") && !answers[1].contains("500 turns"), "{answers:?}");
}

#[tokio::test(start_paused = true)]
async fn a_report_that_arrives_after_a_newer_one_says_that_it_is_older() {
    let first = json!({
        "description": "Part", "prompt": "FIRST", "subagent_type": "explore", "run_in_background": true
    });
    let more = reply::calls([reply::call("Task", resume(CHILD, "SECOND"))]);
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([reply::call("Task", first)]))
        .on(when::prompt_contains("MAIN").turn(1), more.after_ms(1000))
        .on(when::prompt_contains("MAIN"), reply::text("Done."))
        .on(when::last_contains("SECOND"), reply::text("The second part."))
        .otherwise(reply::text("The first part.").after_ms(100));
    let world = Plan::script(script).build();
    assert_eq!(world.run(ask("MAIN")).await.status, Status::Completed);
    let last = world.seen_by("MAIN").pop().expect("it was asked");
    let [.., Message::Outputs { outputs }, Message::User { text }] = last.messages.as_slice() else {
        panic!("an answer, and mail behind it: {:?}", last.messages);
    };
    assert!(outputs[0].output.for_model.contains("The second part."), "{outputs:?}");
    assert!(text.contains("The first part."), "{text}");
    let head = "Your background task agent-aaaaaaaaaaab “Part”: its report from before it was resumed:";
    assert_eq!(text.lines().next(), Some(head));
}
