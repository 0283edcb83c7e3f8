//! Observers: the events they receive, their order, and that nothing an observer does affects anything else.

use std::convert::Infallible;
use std::sync::mpsc;

use expect_test::expect;
use serde_json::json;
use sortie_engine::{EngineSettings, Observation, Parameters, SubagentObserver, SubagentStatus};
use sortie_journal::{Durability, Entry, Journal};
use sortie_protocol::{Event, Fact, Job, Message, Part, Status, TaskId, TaskRequest};
use sortie_testkit::{Script, ScriptedModel, ScriptedPart, reply, when};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{parameters, subagents};
use crate::support::{Plan, World, ask};

/// One call of an observer.
#[derive(Debug, Clone, PartialEq)]
enum Heard {
    Added(TaskId, Parameters),
    Updated(TaskId, Vec<Message>, SubagentStatus),
}

/// Keeps its events, and passes them on at once.
struct Recorder {
    heard: Vec<Heard>,
    aloud: UnboundedSender<Heard>,
}

impl Recorder {
    fn new() -> (Self, UnboundedReceiver<Heard>) {
        let (aloud, live) = unbounded_channel();
        (Self { heard: Vec::new(), aloud }, live)
    }

    fn hear(&mut self, heard: Heard) {
        self.heard.push(heard.clone());
        self.aloud.send(heard).ok();
    }
}

impl SubagentObserver for Recorder {
    fn on_added(&mut self, id: TaskId, parameters: &Parameters) {
        self.hear(Heard::Added(id, parameters.clone()));
    }

    fn on_updated(&mut self, id: TaskId, messages: &[Message], status: SubagentStatus) {
        self.hear(Heard::Updated(id, messages.to_vec(), status));
    }
}

fn observe(world: &World) -> (Observation<Recorder>, UnboundedReceiver<Heard>) {
    let (recorder, live) = Recorder::new();
    (subagents(world).observe(recorder).expect("the journal reads"), live)
}

fn heard(observation: Observation<Recorder>) -> Vec<Heard> {
    observation.finish().expect("the journal reads").observer.heard
}

fn task(prompt: &str, agent: &str) -> ScriptedPart {
    reply::call("Task", json!({"description": "a piece", "prompt": prompt, "subagent_type": agent}))
}

/// A main agent that delegates these pieces at once and then says that it is done.
fn delegating(calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    Script::new()
        .on(when::prompt_contains("The question").turn(0), reply::calls(calls))
        .on(when::prompt_contains("The question"), reply::text("Done."))
}

/// One line for each call: task, number of messages, the newest of them, and the status.
fn transcript(heard: &[Heard]) -> String {
    let line = |heard: &Heard| match heard {
        Heard::Added(id, Parameters { description, prompt, subagent_type }) => {
            format!("{id} added: {description:?} {prompt:?} {subagent_type:?}\n")
        }
        Heard::Updated(id, messages, status) => {
            format!("{id} {status:?} {}: {}\n", messages.len(), messages.last().map(newest).unwrap_or_default())
        }
    };
    heard.iter().map(line).collect()
}

fn newest(message: &Message) -> String {
    match message {
        Message::User { text } => format!("user {text:?}"),
        Message::Assistant { parts } => {
            let part = |part: &Part| match part {
                Part::Text { text } => format!("{text:?}"),
                Part::Call(call) => format!("{}({})", call.id, call.tool),
                Part::Reasoning(_) => "reasoning".to_owned(),
            };
            format!("assistant {}", parts.iter().map(part).collect::<Vec<_>>().join(" "))
        }
        Message::Outputs { outputs } => {
            let outputs = outputs.iter().map(|output| format!("{} {:?}", output.call, output.output.for_model));
            format!("outputs {}", outputs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The distinct statuses in order.
fn statuses(heard: &[Heard]) -> Vec<SubagentStatus> {
    let mut statuses: Vec<SubagentStatus> = heard
        .iter()
        .filter_map(|heard| match heard {
            Heard::Updated(_, _, status) => Some(*status),
            Heard::Added(..) => None,
        })
        .collect();
    statuses.dedup();
    statuses
}

#[tokio::test]
async fn s1_29_an_observer_gets_the_three_parameters_as_they_were_given() {
    let description = "a long description ".repeat(20);
    let call = json!({"description": description, "prompt": "  the piece\n", "subagent_type": "Explore"});
    let script = delegating([reply::call("Task", call)]).on(when::any(), reply::text("Report."));
    let world = Plan::script(script).build();
    let (observation, _live) = observe(&world);
    world.run(ask("The question")).await;
    let given = Parameters { description, prompt: "  the piece\n".to_owned(), subagent_type: "Explore".to_owned() };
    let heard = heard(observation);
    let added: Vec<&Parameters> = heard
        .iter()
        .filter_map(|heard| match heard {
            Heard::Added(_, parameters) => Some(parameters),
            Heard::Updated(..) => None,
        })
        .collect();
    assert_eq!(added, [&given], "once, and the main agent is no sub-agent");
}

#[tokio::test]
async fn s1_30_s1_32_every_message_arrives_and_the_last_update_has_the_terminal_status() {
    let read = |path: &str| reply::call("Read", json!({"file_path": path}));
    let script = delegating([task("the piece", "explore")])
        .on(when::prompt_contains("the piece").turn(0), reply::calls([read("a.txt"), read("b.txt")]).text("I look."))
        .on(when::prompt_contains("the piece"), reply::text("Report."));
    let world = Plan::script(script).files(&[("a.txt", "A"), ("b.txt", "B")]).build();
    let (observation, _live) = observe(&world);
    world.run(ask("The question")).await;
    expect![[r#"
        agent-aaaaaaaaaaab added: "a piece" "the piece" "explore"
        agent-aaaaaaaaaaab Active 1: user "the piece"
        agent-aaaaaaaaaaab Active 2: assistant call_0_1(Read) call_0_2(Read) "I look."
        agent-aaaaaaaaaaab Active 3: outputs call_0_1 "1\tA", call_0_2 "1\tB"
        agent-aaaaaaaaaaab Active 4: assistant "Report."
        agent-aaaaaaaaaaab Completed 4: assistant "Report."
    "#]]
    .assert_eq(&transcript(&heard(observation)));
}

#[tokio::test]
async fn s1_32_the_messages_are_those_sent_to_the_model_whichever_output_came_first() {
    let script = Script::new()
        .on(
            when::prompt_contains("The whole").turn(0),
            reply::calls([task("slow", "explore"), task("fast", "explore")]),
        )
        .on(when::prompt_contains("The whole"), reply::text("Report."))
        .on(when::prompt_contains("slow"), reply::text("Slow.").held_by("held"))
        .on(when::prompt_contains("fast"), reply::text("Fast."));
    let world = Plan::script(script).build();
    let (observation, mut live) = observe(&world);
    let request = TaskRequest { agent: "general-purpose".to_owned(), ..ask("The whole") };
    let running = world.engine.task(request).await.expect("it starts");
    while !matches!(live.recv().await, Some(Heard::Updated(_, _, SubagentStatus::Completed))) {}
    world.model.gate("held").open();
    let whole = running.outcome().await.expect("the journal works").task_id;

    let heard = heard(observation);
    let Some(Heard::Updated(id, messages, SubagentStatus::Completed)) = heard.last() else { panic!("its end is last") };
    let (answer, before) = messages.split_last().expect("there are messages");
    assert_eq!((*id, answer.assistant_text()), (whole, "Report.".to_owned()));
    assert_eq!(before, world.seen_by("The whole")[1].messages);
}

#[tokio::test]
async fn s1_31_a_sub_agent_is_recorded_before_its_first_request_and_added_before_a_reply() {
    let script = delegating([task("the piece", "explore")])
        .on(when::prompt_contains("the piece"), reply::text("Report.").held_by("held"));
    let world = Plan::script(script).build();
    let (observation, mut live) = observe(&world);
    let running = world.start(ask("The question")).await;
    let first = live.recv().await.expect("it is heard of while its model is still silent");
    assert!(matches!(first, Heard::Added(..)));
    world.model.gate("held").open();
    running.outcome().await.expect("the journal works");
    drop(observation);

    let of_child = world.events().into_iter().filter(|event| event.depth == 1);
    let kinds: Vec<&str> = of_child.map(|event| event.fact.kind()).collect();
    assert_eq!(kinds[..3], ["task_started", "task_admitted", "model_called"]);
}

#[tokio::test]
async fn s1_46_a_sub_agent_is_added_then_active_then_at_its_end() {
    let pieces = [task("one piece", "explore"), task("other piece", "explore")];
    let script = delegating(pieces).on(when::any(), reply::text("Report.").held_by("held"));
    let world = Plan::script(script).rules(EngineSettings { max_concurrent: 1, ..EngineSettings::default() }).build();
    let (observation, mut live) = observe(&world);
    let running = world.start(ask("The question")).await;
    let mut first = Vec::new();
    while first.len() < 3 {
        live.recv_many(&mut first, 1).await;
    }
    let added = |heard: &Heard| match heard {
        Heard::Added(id, _) => Some(*id),
        Heard::Updated(..) => None,
    };
    let ids: Vec<TaskId> = first.iter().filter_map(added).collect();
    assert_eq!(ids.len(), 2);
    assert_eq!(statuses(&first), [SubagentStatus::Active], "one is at work, the other is being initialised");
    world.model.gate("held").open();
    running.outcome().await.expect("the journal works");

    let heard = heard(observation);
    for id in ids {
        let of_one = |heard: &&Heard| matches!(heard, Heard::Updated(updated, ..) if *updated == id);
        let updates: Vec<Heard> = heard.iter().filter(of_one).cloned().collect();
        assert_eq!(statuses(&updates), [SubagentStatus::Active, SubagentStatus::Completed]);
    }
}

#[tokio::test]
async fn s1_30_a_sub_agent_that_fails_ends_in_error() {
    let script = delegating([task("the piece", "explore")]).on(when::any(), reply::status(400));
    let world = Plan::script(script).build();
    let (observation, _live) = observe(&world);
    world.run(ask("The question")).await;
    assert_eq!(statuses(&heard(observation)), [SubagentStatus::Active, SubagentStatus::Error]);
}

#[tokio::test]
async fn s1_30_a_sub_agent_at_its_limit_ends_in_error_with_its_conversation() {
    const HASTY: (&str, &str) =
        (".sortie/agents/hasty.md", "---\nname: hasty\ndescription: hasty\nmaxTurns: 1\n---\nYou are hasty.\n");
    let script = delegating([task("the piece", "hasty")])
        .on(when::prompt_contains("the piece").turn(0), reply::calls([reply::call("LS", json!({}))]))
        .on(when::any(), reply::calls([reply::call("LS", json!({}))]).text("So far."));
    let world = Plan::script(script).files(&[HASTY]).agent_files().build();
    let (observation, _live) = observe(&world);
    world.run(ask("The question")).await;
    expect![[r#"
        agent-aaaaaaaaaaab added: "a piece" "the piece" "hasty"
        agent-aaaaaaaaaaab Active 1: user "the piece"
        agent-aaaaaaaaaaab Active 2: assistant call_0_1(LS)
        agent-aaaaaaaaaaab Active 3: outputs call_0_1 ".sortie/"
        agent-aaaaaaaaaaab Active 4: user "You have reached a limit: no more tool calls are possible. Write your report now, from what you have found so far, and say what is missing."
        agent-aaaaaaaaaaab Active 5: assistant call_1_1(LS) "So far."
        agent-aaaaaaaaaaab Active 6: outputs call_1_1 "LS was not run: the turns limit was reached"
        agent-aaaaaaaaaaab Error 6: outputs call_1_1 "LS was not run: the turns limit was reached"
    "#]].assert_eq(&transcript(&heard(observation)));
}

#[tokio::test]
async fn s1_30_a_stopped_sub_agent_ends_aborted_at_work_or_waiting() {
    let pieces = [task("one piece", "explore"), task("other piece", "explore")];
    let script = delegating(pieces).on(when::any(), reply::never());
    let world = Plan::script(script).rules(EngineSettings { max_concurrent: 1, ..EngineSettings::default() }).build();
    let (observation, _live) = observe(&world);
    let running = world.start(ask("The question")).await;
    world.model.traffic_reaches(|traffic| traffic.in_flight == 1).await;
    running.stop();
    running.outcome().await.expect("the journal works");
    let ends = |heard: &&Heard| matches!(heard, Heard::Updated(_, _, SubagentStatus::Aborted));
    assert_eq!(heard(observation).iter().filter(ends).count(), 2);
}

#[tokio::test]
async fn s1_29_observers_hear_of_sub_agents_from_every_origin() {
    let script = delegating([task("the outer piece", "general-purpose")])
        .on(when::prompt_contains("the outer piece").turn(0), reply::calls([task("the inner piece", "explore")]))
        .on(when::any(), reply::text("Report."));
    let world = Plan::script(script).build();
    let (observation, _live) = observe(&world);
    world.run(ask("The question")).await;
    let host = subagents(&world);
    let plan = host.find("plan").expect("a built-in agent");
    let planner = host.create(&plan, parameters("the host's piece", "planner")).await.expect("it can be created");
    host.execute(planner, "the host's piece").await.expect("a text");
    let heard = heard(observation);
    let added = heard.iter().filter_map(|heard| match heard {
        Heard::Added(_, parameters) => Some((parameters.prompt.as_str(), parameters.subagent_type.as_str())),
        Heard::Updated(..) => None,
    });
    let expected =
        [("the outer piece", "general-purpose"), ("the inner piece", "explore"), ("the host's piece", "planner")];
    assert_eq!(added.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn s1_29_observers_do_not_hear_of_other_engines_tasks() {
    let world = Plan::script(Script::always(reply::text("Report."))).build();
    let run = async || {
        let request = TaskRequest { agent: "explore".to_owned(), ..ask("the piece") };
        world.engine.task(request).await.expect("it starts").outcome().await.expect("the journal works").task_id
    };
    run().await;
    let Some(Event { fact: Fact::TaskStarted { job }, time, .. }) = world.events().into_iter().next() else {
        panic!("a start comes first")
    };
    let (observation, _live) = observe(&world);
    let foreign = TaskId::from_random([7; 12]);
    let job = Job { task: foreign, root: foreign, ..*job };
    let fact = Fact::TaskStarted { job: Box::new(job) };
    let entry = Entry { task_id: foreign, leg: 1, attempt: 1, time, after: None, fact };
    world.journal.append(vec![entry], Durability::Ordered).await.expect("the journal works");
    let ours = run().await;
    let ids = |heard: &Heard| match heard {
        Heard::Added(id, _) | Heard::Updated(id, ..) => *id,
    };
    let mut heard_of: Vec<TaskId> = heard(observation).iter().map(ids).collect();
    heard_of.dedup();
    assert_eq!(heard_of, [ours]);
}

/// Implements none of the methods.
struct Deaf;

impl SubagentObserver for Deaf {}

#[tokio::test]
async fn s1_34_both_methods_of_an_observer_are_optional() {
    let script = delegating([task("the piece", "explore")]).on(when::any(), reply::text("Report."));
    let world = Plan::script(script).build();
    let observation = subagents(&world).observe(Deaf).expect("the journal reads");
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    assert_eq!(observation.finish().expect("the journal reads").panics, 0);
}

/// Panics at every event.
struct Panicking;

impl SubagentObserver for Panicking {
    fn on_added(&mut self, _id: TaskId, _parameters: &Parameters) {
        panic!("an observer that breaks, on purpose");
    }

    fn on_updated(&mut self, _id: TaskId, _messages: &[Message], _status: SubagentStatus) {
        panic!("an observer that breaks, on purpose");
    }
}

#[tokio::test]
async fn s1_34_a_panicking_observer_disturbs_neither_run_nor_others_nor_its_next_call() {
    let script = delegating([task("the piece", "explore")]).on(when::any(), reply::text("Report."));
    let world = Plan::script(script).build();
    let panicking = subagents(&world).observe(Panicking).expect("the journal reads");
    let (sound, _live) = observe(&world);
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    let calls = heard(sound).len();
    assert_eq!(calls, 4, "added, its brief, its report, its end");
    assert_eq!(panicking.finish().expect("the journal reads").panics, calls as u64);
}

/// Blocks in its first call until the test releases it, and then receives the rest.
struct Blocking {
    hold: mpsc::Receiver<Infallible>,
    recorder: Recorder,
}

impl SubagentObserver for Blocking {
    fn on_added(&mut self, id: TaskId, parameters: &Parameters) {
        self.recorder.on_added(id, parameters);
        self.hold.recv().ok();
    }

    fn on_updated(&mut self, id: TaskId, messages: &[Message], status: SubagentStatus) {
        self.recorder.on_updated(id, messages, status);
    }
}

#[tokio::test]
async fn s1_34_a_slow_observer_holds_nobody_up_and_misses_nothing() {
    let pieces = (0..100).map(|piece| task(&format!("piece {piece}"), "explore"));
    let model = ScriptedModel::new(delegating(pieces).on(when::any(), reply::text("Report.")));
    let world = Plan::of(model).build();
    let (let_go, hold) = mpsc::channel();
    let (recorder, mut live) = Recorder::new();
    let slow = Blocking { hold, recorder };
    let slow = subagents(&world).observe(slow).expect("the journal reads");
    let (quick, _live) = observe(&world);

    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    let quick = heard(quick);
    live.recv().await.expect("its first call");
    assert!(live.is_empty(), "it is still in its first call when all is over");
    drop(let_go);
    assert_eq!(slow.finish().expect("the journal reads").observer.recorder.heard, quick);
    assert_eq!(quick.len(), 400);
}

#[tokio::test]
async fn s1_34_a_dropped_observation_releases_its_observer() {
    let world = Plan::script(Script::new()).build();
    let (observation, mut live) = observe(&world);
    drop(observation);
    assert_eq!(live.recv().await, None);
}
