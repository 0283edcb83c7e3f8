//! Forks: sub-agents that begin with their parent's conversation, as far as they could have had it themselves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use sortie_engine::{EngineSettings, Resumption};
use sortie_llm::{ModelRequest, RouteSetup, RouteTable, Terms, WireKind};
use sortie_protocol::{Fact, FailureCode, Fork, Limits, Message, Status, TaskOutcome, TaskRequest};
use sortie_testkit::{Script, ScriptedModel, ScriptedPart, ScriptedReply, ScriptedServer, Seen, reply, when};

use crate::context::{elements, route};
use crate::every_event::Place;
use crate::relic::Relic;
use crate::support::{Plan, World, ask};

const QUESTION: &str = "Where are authentication errors handled?";
const PART: &str = "PART: count the files.";
const SECRET: &str = "the-password-is-swordfish";
const READER: &str =
    "---\nname: reader\ndescription: reads\ntools: Read, Glob\ndisallowedTools: Read(secret/**)\n---\nRead.\n";

fn read(path: &str) -> ScriptedPart {
    reply::call("Read", json!({"file_path": path}))
}

/// A Task call with this brief, and more fields.
fn task(fields: &Value) -> ScriptedPart {
    let mut call = json!({"description": "part", "prompt": PART});
    for (name, value) in fields.as_object().expect("fields") {
        call[name] = value.clone();
    }
    reply::call("Task", call)
}

/// A main agent that reads for a turn, and then delegates with these fields.
fn forks(fields: &Value) -> Script {
    Script::new()
        .on(when::last_contains(PART), reply::calls([read("b.txt")]))
        .on(when::last_contains("CONTENT-B"), reply::text("Counted."))
        .on(when::turn(0), reply::text("First I look.").calls([read("a.txt")]))
        .on(when::turn(1), reply::text("Now I delegate.").calls([task(fields)]))
        .otherwise(reply::text("Done."))
}

const FILES: [(&str, &str); 4] = [
    ("a.txt", "CONTENT-A\n"),
    ("b.txt", "CONTENT-B\n"),
    ("secret/key.txt", "the-password-is-swordfish\n"),
    (".sortie/agents/reader.md", READER),
];

fn plan(script: Script) -> Plan {
    Plan::script(script).files(&FILES).agent_files()
}

/// Returns the first request of the sub-agent: the first one that ends with its brief.
fn forked(world: &World) -> Seen {
    let is_first = |seen: &Seen| matches!(seen.messages.last(), Some(Message::User { text }) if text.ends_with(PART));
    world.model.seen().into_iter().find(is_first).expect("a sub-agent was asked")
}

fn text_of(seen: &Seen) -> String {
    format!("{:?}", seen.messages)
}

/// Returns the outcome of the sub-agent `reader`.
fn outcome_of_reader(world: &World) -> TaskOutcome {
    let ended = |event: sortie_protocol::Event| match event.fact {
        Fact::TaskEnded { outcome } if outcome.agent == "reader" => Some(*outcome),
        _ => None,
    };
    world.events().into_iter().find_map(ended).expect("a sub-agent has ended")
}

#[tokio::test]
async fn a_fork_of_its_parent_repeats_the_parents_last_request_byte_for_byte_on_every_wire() {
    for wire in WireKind::ALL {
        let server = ScriptedServer::start(forks(&json!({"fork": true}))).expect("a free port");
        let table = RouteTable::new(RouteSetup { routes: vec![route(&server, wire)], ..RouteSetup::default() });
        let world = plan(Script::new()).build_with(Arc::new(table.expect("one route")));
        let outcome = world.run(ask(QUESTION)).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Completed, "Done."), "{wire}: {outcome:?}");
        let all: Vec<Vec<String>> = server.requests().iter().map(|request| elements(request)).collect();
        // Parent, parent, sub-agent, sub-agent, parent.
        let [_, parents, first, second, last] = &all[..] else { panic!("{wire}: {} requests", all.len()) };
        assert_eq!(first[..parents.len()], parents[..], "{wire}");
        assert_eq!(first.len(), parents.len() + 1, "{wire}: one message with the brief");
        assert!(first[parents.len()].contains(PART), "{wire}: {first:?}");
        assert_eq!(second[..first.len()], first[..], "{wire}: the sub-agent's requests only grow");
        assert!(!format!("{last:?}").contains("CONTENT-B"), "{wire}: the parent gets the report alone");
    }
}

#[tokio::test]
async fn a_sub_agent_has_a_clean_context_unless_the_call_forks() {
    for fields in [json!({}), json!({"fork": false}), json!({"fork": false, "subagent_type": "explore"})] {
        let world = plan(forks(&fields)).build();
        world.run(ask(QUESTION)).await;
        let [Message::User { text }] = &forked(&world).messages[..] else { panic!("one message") };
        assert_eq!(text, PART);
    }
}

#[tokio::test]
async fn a_fork_of_its_parent_keeps_agent_tools_and_grant_but_not_the_depth() {
    let world = plan(forks(&json!({"fork": true}))).build();
    world.run(ask(QUESTION)).await;
    let jobs = world.events().into_iter().filter_map(|event| match event.fact {
        Fact::TaskStarted { job } => Some(job.config),
        _ => None,
    });
    let [parent, child] = &jobs.collect::<Vec<_>>()[..] else { panic!("two tasks") };
    assert_eq!((&child.agent, &child.tools, &child.grant), (&parent.agent, &parent.tools, &parent.grant));
    assert_eq!((child.depth, child.chain.join(">")), (1, "main>main".to_owned()));
}

#[tokio::test]
async fn a_fork_into_another_agent_shares_what_that_agent_could_have_read() {
    let world = plan(forks(&json!({"fork": true, "subagent_type": "reader"}))).build();
    world.run(ask(QUESTION)).await;
    let seen = forked(&world);
    assert!(seen.system.starts_with("Read."), "{}", seen.system);
    assert_eq!(seen.tools, ["Read", "Glob"]);
    let text = text_of(&seen);
    assert!(text.contains(QUESTION) && text.contains("First I look.") && text.contains("CONTENT-A"), "{text}");
    assert_eq!(outcome_of_reader(&world).notices, [""; 0]);
}

/// A main agent that makes these calls, writes down what it learnt, reads on, and forks into the agent `reader`.
fn learns(calls: Vec<ScriptedPart>, fields: &Value) -> Script {
    Script::new()
        .on(when::last_contains(PART), reply::text("Counted."))
        .on(when::prompt_contains("SIDE"), reply::text(format!("It says {SECRET}.")))
        .on(when::turn(0), reply::calls(calls))
        .on(when::turn(1), reply::text(format!("I learnt that {SECRET}.")).calls([read("b.txt")]))
        .on(when::turn(2), reply::calls([task(fields)]))
        .otherwise(reply::text("Done."))
}

#[tokio::test]
async fn nothing_that_another_agent_may_not_read_reaches_it_through_a_fork() {
    let side = json!({"description": "side", "prompt": "SIDE", "subagent_type": "explore"});
    let secrets = [
        read("secret/key.txt"),
        read("secret/../secret/key.txt"),
        reply::call("Grep", json!({"pattern": "password", "output_mode": "content"})),
        reply::call("Glob", json!({"pattern": "**/*.txt"})),
        reply::call("Task", side),
        reply::call("Write", json!({"file_path": "c.txt", "content": "c"})),
    ];
    for secret in secrets {
        for fork in [json!(true), json!(1), json!(3)] {
            let fields = json!({"fork": fork, "subagent_type": "reader"});
            let world = plan(learns(vec![read("a.txt"), secret.clone()], &fields)).build();
            world.run(ask(QUESTION)).await;
            let text = text_of(&forked(&world));
            assert!(!text.contains(SECRET) && !text.contains("CONTENT-B"), "{fields} {secret:?}: {text}");
            if fork == json!(1) {
                assert!(!text.contains("CONTENT-A"), "the turn that is wanted may repeat what came before: {text}");
                continue;
            }
            assert!(text.contains("CONTENT-A") && text.contains("[withheld: "), "{secret:?}: {text}");
            assert!(
                text.contains("[It ends early: its rest, with 1 turn, follows something that agent reader"),
                "{text}"
            );
            let notices = outcome_of_reader(&world).notices;
            assert!(notices[0].starts_with("the fork of agent-aaaaaaaaaaaa ends early"), "{notices:?}");
        }
    }
}

#[tokio::test]
async fn words_of_others_end_a_fork_into_another_agent() {
    let world = plan(forks(&json!({"fork": true, "subagent_type": "reader"}))).build();
    let first = world.run(TaskRequest { limits: Limits { max_turns: Some(9), ..Limits::default() }, ..ask("Hello.") });
    let first = first.await;
    assert_eq!(first.status, Status::Completed);
    let world = Plan {
        ids_before: 9,
        ..plan(
            Script::new()
                .on(when::last_contains(PART), reply::text("Counted."))
                .on(
                    when::last_contains(SECRET),
                    reply::calls([task(&json!({"fork": true, "subagent_type": "reader"}))]),
                )
                .otherwise(reply::text("Done.")),
        )
    }
    .build_over(&world);
    let resumption = Resumption { prompt: Some(SECRET.to_owned()), ..Resumption::default() };
    let resumed = world.engine.resume(first.task_id, resumption).await.expect("it resumes");
    resumed.outcome().await.expect("the journal works");
    let text = text_of(&forked(&world));
    assert!(text.contains("Hello.") && !text.contains(SECRET), "{text}");
}

#[tokio::test]
async fn context_files_that_another_agent_may_not_read_leave_it_the_first_message_alone() {
    let rules = "---\nname: reader\ndescription: reads\ntools: Read\ndisallowedTools: Read(AGENTS.md)\n---\nRead.\n";
    let files = [("AGENTS.md", "swordfish"), ("a.txt", "CONTENT-A"), (".sortie/agents/reader.md", rules)];
    let plan = Plan::script(forks(&json!({"fork": true, "subagent_type": "reader"}))).files(&files).agent_files();
    let world = plan.build();
    world.run(ask(QUESTION)).await;
    let [Message::User { text: first }, Message::User { .. }] = &forked(&world).messages[..] else { panic!("two") };
    assert_eq!(first, QUESTION);
}

#[tokio::test]
async fn the_last_turns_follow_the_first_message_and_the_gap_is_named() {
    let script = Script::new()
        .on(when::last_contains(PART), reply::text("Counted."))
        .on(when::turn(0), reply::calls([read("a.txt")]))
        .on(when::turn(1), reply::calls([read("b.txt")]))
        .on(when::turn(2), reply::calls([task(&json!({"fork": 1}))]))
        .otherwise(reply::text("Done."));
    let world = plan(script).build();
    world.run(ask(QUESTION)).await;
    let seen = forked(&world);
    let text = text_of(&seen);
    assert_eq!(seen.messages.len(), 4, "{text}");
    assert!(text.contains(QUESTION) && text.contains("CONTENT-B") && !text.contains("CONTENT-A"), "{text}");
    assert!(text.contains("[Left out after its first message: 1 turn.]"), "{text}");
}

#[tokio::test]
async fn an_agent_file_can_ask_for_a_fork_and_a_call_can_decline_it() {
    let forking = READER.replace("tools:", "fork: true\ntools:");
    for (fields, n_messages) in [(json!({}), 4), (json!({"fork": false}), 1), (json!({"fork": 1}), 4)] {
        let mut fields = fields;
        fields["subagent_type"] = json!("reader");
        let files = [("a.txt", "CONTENT-A"), ("b.txt", "CONTENT-B"), (".sortie/agents/reader.md", &*forking)];
        let world = Plan::script(forks(&fields)).files(&files).agent_files().build();
        world.run(ask(QUESTION)).await;
        assert_eq!(forked(&world).messages.len(), n_messages, "{fields}");
    }
}

#[tokio::test]
async fn a_fork_that_does_not_fit_is_refused_with_figures_before_it_starts() {
    let small = Terms { window: Some(16_000), ..Terms::default() };
    let prompt = "A line of a brief that says far too much.\n".repeat(1500);
    let limited = json!({"prompt": prompt, "fork": true, "limits": {"max_tokens": 30_000}});
    for (terms, fields, bound) in [
        (Terms::default(), limited, "and 30000 of 30000 are left"),
        (small, json!({"prompt": prompt, "fork": true}), "the window of `scripted` has room for 11200"),
    ] {
        let world = Plan { terms, ..plan(forks(&fields)) }.build();
        world.run(ask(QUESTION)).await;
        let told = text_of(world.model.seen().last().expect("the parent was asked"));
        assert!(told.contains("no_room") && told.contains(bound), "{bound}: {told}");
        assert_eq!(world.events().iter().filter(|event| event.depth == 1).count(), 0, "nothing was started");
    }
}

#[tokio::test]
async fn there_is_nothing_to_fork_outside_of_a_task() {
    let world = plan(Script::always(reply::text("Done."))).build();
    let forking = |agent: &str| TaskRequest { agent: agent.to_owned(), fork: Some(Fork::Whole), ..ask("Do it.") };
    let host = world.engine.host();
    for refused in [
        world.engine.run(forking("main")).await.err().expect("a person has no conversation here"),
        host.start(forking("explore")).await.err().expect("nor has a program"),
    ] {
        assert_eq!(refused.code, FailureCode::InvalidArguments);
        assert!(refused.message.starts_with("there is no conversation to fork"), "{}", refused.message);
    }
    assert!(world.events().is_empty());
}

#[tokio::test]
async fn a_resumed_sub_agent_keeps_its_own_conversation() {
    let script = Script::new()
        .on(when::prompt_contains("MAIN").turn(0), reply::calls([task(&json!({}))]))
        .on(
            when::prompt_contains("MAIN").turn(1),
            reply::calls([task(&json!({"resume": "agent-aaaaaaaaaaab", "fork": true}))]),
        )
        .otherwise(reply::text("Done."));
    let world = plan(script).build();
    world.run(ask("MAIN")).await;
    let told = text_of(world.model.seen().last().expect("the parent was asked"));
    assert!(told.contains("a resumed task keeps its own conversation; leave `fork` out"), "{told}");
}

/// The main agent lists, then forks itself; each fork lists twice.
fn by_turns(request: &ModelRequest<'_>) -> ScriptedReply {
    let turn = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
    let is_fork =
        request.messages.iter().any(|message| matches!(message, Message::User { text } if text.ends_with(PART)));
    let glob = |at: usize| reply::calls([reply::call("Glob", json!({"pattern": format!("{at}.txt")}))]);
    match (is_fork, turn) {
        (false, 0) | (true, 1..3) => glob(turn),
        (false, 1) => reply::calls([task(&json!({"fork": true})), task(&json!({"fork": true}))]),
        _ => reply::text("Done."),
    }
}

#[tokio::test]
async fn a_forked_task_killed_at_any_step_resumes_with_the_conversation_it_began_with() {
    let place = Place::new();
    let engine = |journal: &Arc<Relic>| {
        let model = Arc::new(ScriptedModel::answering(by_turns));
        (place.engine_with(Arc::clone(journal), Arc::clone(&model), EngineSettings::default()), model)
    };
    let forks_of = |model: &ScriptedModel| -> Vec<Seen> {
        let is_brief = |message: &Message| matches!(message, Message::User { text } if text.ends_with(PART));
        model.seen().into_iter().filter(|seen| seen.messages.iter().any(is_brief)).collect()
    };
    let journal = Arc::new(Relic::default());
    let (whole, model) = engine(&journal);
    let outcome = whole.run(ask(QUESTION)).await.expect("it starts").outcome().await.expect("the journal works");
    assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
    let first = forks_of(&model).remove(0);
    let appends = journal.appends();
    let mut n_resumed = 0;
    for n_left in 1..appends.len() {
        let journal = Arc::new(Relic::of(&appends[..n_left]).await);
        let (engine, model) = engine(&journal);
        let resumed = engine.resume(outcome.task_id, Resumption::default()).await.expect("it resumes");
        let again = resumed.outcome().await.expect("the journal works");
        assert_eq!((again.status, again.usage.turns), (Status::Completed, outcome.usage.turns), "after {n_left}");
        for seen in forks_of(&model) {
            assert_eq!((&seen.system, &seen.specs), (&first.system, &first.specs), "after {n_left}");
            assert_eq!(seen.messages[..first.messages.len()], first.messages[..], "after {n_left}");
            n_resumed += usize::from(seen.messages.len() > first.messages.len());
        }
    }
    assert!(n_resumed > 10, "{n_resumed}");
}

#[tokio::test]
async fn a_shortened_fork_keeps_its_own_brief() {
    let long = "A line of a page that somebody wants to have read.\n".repeat(60);
    let pages: Vec<(String, String)> = (0..40).map(|page| (format!("{page}.txt"), long.clone())).collect();
    let next = AtomicUsize::new(10);
    let model = ScriptedModel::answering(move |request| {
        let turn = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let is_fork = format!("{:?}", request.messages).contains(PART);
        match request.messages.last() {
            Some(Message::User { text }) if text.contains("Sum up this conversation") => reply::text("In short."),
            _ if is_fork => match next.fetch_add(1, Ordering::Relaxed) {
                page @ 0..40 => reply::text("It matters. ".repeat(100)).calls([read(&format!("{page}.txt"))]),
                _ => reply::text("Counted."),
            },
            _ if turn < 3 => reply::calls([read(&format!("{turn}.txt"))]),
            _ if turn == 3 => reply::calls([task(&json!({"fork": true}))]),
            _ => reply::text("Done."),
        }
    });
    let files: Vec<(&str, &str)> = pages.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let terms = Terms { window: Some(16_000), ..Terms::default() };
    let world = Plan { terms, ..Plan::of(model).files(&files) }.build();
    world.run(ask(QUESTION)).await;
    let is_summed_up = |seen: &Seen| text_of(seen).contains("Your summary of them");
    let shortened: Vec<Seen> = world.model.seen().into_iter().filter(is_summed_up).collect();
    assert!(!shortened.is_empty(), "it was summed up");
    for seen in shortened.iter().filter(|seen| !text_of(seen).contains("Done.")) {
        let text = text_of(seen);
        assert!(text.contains(PART) && text.contains(QUESTION), "{text}");
        assert_eq!(text.matches(PART).count(), 1, "{text}");
    }
}
