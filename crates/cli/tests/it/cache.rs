//! Cached results: for the same request on the same files, if switched on.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::hooks_at_work::with_hook;
use crate::world::{Ended, World};

/// Model whose main agent asks for the same search each time.
fn searching() -> ScriptedServer {
    let task = json!({"description": "Find it", "prompt": "CHILD", "subagent_type": "explore"});
    let script = Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("QUESTION"), reply::text("It is settled."));
    ScriptedServer::start(finding(script)).unwrap()
}

/// Adds a search that needs no approval.
fn finding(script: Script) -> Script {
    script
        .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "src/auth.rs"}))]))
        .otherwise(reply::text("It is in src/auth.rs."))
}

/// Runs it; returns the calls of the sub-agent's model, the main agent's result, and the run's ending.
fn search(world: &World, server: &ScriptedServer, flags: &[&str]) -> (usize, String, Ended) {
    let before = server.requests().len();
    let ended = world.sortie(["run"].iter().chain(flags).chain(&["QUESTION"])).on(server, "anthropic").run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let requests = server.requests().split_off(before);
    let asked = requests.iter().filter(|request| !request.body.to_string().contains("QUESTION")).count();
    let told = requests.last().unwrap().body["messages"][2]["content"][0]["content"].as_str().unwrap().to_owned();
    (asked, told, ended)
}

#[test]
fn a_repeated_search_is_answered_from_the_first_with_a_notice() {
    let (world, server) = (World::new(), searching());
    world.config("[task_tool]\ncache = true\n");
    let (asked, told, _) = search(&world, &server, &[]);
    assert_eq!(asked, 2);
    let first = world.tasks(2)[1]["task_id"].as_str().unwrap().to_owned();
    let (again, given, ended) = search(&world, &server, &[]);
    assert_eq!((again, ended.stdout.as_str()), (0, "It is settled.\n"));
    let notice = format!("answered from {first}, which did the same on the same files at ");
    assert!(given.contains(&format!("notice: {notice}")), "{given}");
    assert!(given.contains("It is in src/auth.rs.") && !told.contains("answered from"), "{given}\n{told}");
    assert_eq!(ended.stderr.matches(&format!("note: “Find it” was {notice}")).count(), 1, "{}", ended.stderr);
    assert_eq!(world.tasks(3).len(), 3, "nobody was started the second time");

    let (_, _, json) = search(&world, &server, &["--output-format", "json"]);
    assert!(json.stdout_json()["notices"].to_string().contains(&notice), "{json:#?}");

    world.write("workspace/src/auth.rs", "pub fn logout() {}\n");
    let (anew, given, _) = search(&world, &server, &[]);
    assert_eq!((anew, given.contains("answered from")), (2, false), "the file has changed");
    assert_eq!(search(&world, &server, &[]).0, 0);
}

#[test]
fn a_repeated_delegation_is_answered_from_the_first_unless_retried() {
    let world = World::new();
    world.config("[task_tool]\ncache = true\n");
    let server = ScriptedServer::start(finding(Script::new())).unwrap();
    let request = json!({"description": "Find it", "prompt": "CHILD", "subagent_type": "Explore"});
    let ask = |contract: &str, request: &Value| {
        let args = ["task", "--contract", contract, "--json", &request.to_string()];
        let ended = world.sortie(args).on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        (ended, server.traffic().calls)
    };
    let (first, calls) = ask("sortie", &request);
    assert_eq!((calls, first.stderr.contains("answered from")), (2, false), "{first:#?}");
    let (mut first, (again, calls)) = (first.stdout_json(), ask("sortie", &request));
    let (task, mut given) = (first["task_id"].as_str().unwrap().to_owned(), again.stdout_json());
    let notice = given["notices"].as_array_mut().and_then(Vec::pop).unwrap();
    let notice = notice.as_str().unwrap();
    assert!(notice.starts_with(&format!("answered from {task}, which did the same ")), "{notice}");
    assert_eq!((calls, &given["text"], &again.stderr), (2, &first["text"], &format!("note: {notice}\n")));
    first["notices"].take();
    given["notices"].take();
    assert_eq!(given, first, "its figures are from then");

    let mut apart = request.clone();
    apart["run_in_background"] = json!(true);
    let launched = ask("sortie", &apart).0.stdout_json();
    let following = world.sortie(["tasks", "output", launched["task_id"].as_str().unwrap(), "--follow"]).run();
    assert_eq!((following.code, server.traffic().calls), (0, 4), "what nobody waits for is always started");
    assert_eq!((ask("typed", &request).1, ask("typed", &request).1), (6, 6), "in each contract");
    assert_eq!(world.sortie(["tasks", "retry", &task]).on(&server, "anthropic").run().code, 0);
    assert_eq!(server.traffic().calls, 8);
}

#[test]
fn every_contract_marks_a_cached_outcome_and_stderr_always_does() {
    for (contract, field) in [
        ("envelope", Some("/text")),
        ("result", None),
        ("delegate", Some("/summary")),
        ("typed", Some("/result")),
        ("child", Some("/summary")),
        ("child-recipe", Some("/summary")),
        ("sortie", Some("/notices/0")),
    ] {
        let (world, server) = (World::new(), ScriptedServer::start(finding(Script::new())).unwrap());
        world.config("[task_tool]\ncache = true\n[agents]\nbuiltin = true\n");
        let request = match contract {
            "delegate" => json!({"task": "CHILD"}),
            "child-recipe" => json!({"description": "Find it", "prompt": "CHILD"}),
            _ => json!({"description": "Find it", "prompt": "CHILD", "subagent_type": "explore"}),
        };
        let ask = || {
            let args = ["task", "--contract", contract, "--json", &request.to_string()];
            let ended = world.sortie(args).on(&server, "anthropic").run();
            assert_eq!(ended.code, 0, "{ended:#?}");
            ended
        };
        let first = ask();
        let (calls, again) = (server.traffic().calls, ask());
        assert_eq!(server.traffic().calls, calls, "{contract}");
        let said = "answered from agent-";
        assert!(!format!("{}{}", first.stdout, first.stderr).contains(said), "{contract}: {first:#?}");
        assert_eq!(again.stderr.matches(&format!("note: {said}")).count(), 1, "{contract}: {again:#?}");
        let answer = again.stdout_json();
        let told = field.map(|field| answer.pointer(field).and_then(Value::as_str).unwrap_or_default());
        assert!(told.is_none_or(|told| told.contains(said)), "{contract}: {answer}");
        assert_eq!(again.stdout.contains(said), field.is_some(), "{contract}: {answer}");
    }
}

#[test]
fn a_model_at_another_address_searches_again() {
    let (world, servers) = (World::new(), [searching(), searching()]);
    world.config("[task_tool]\ncache = true\n");
    let asked = [0, 1, 0, 1].map(|at| search(&world, &servers[at], &[]).0);
    assert_eq!(asked, [2, 2, 0, 0], "each is answered from its own first");
}

#[test]
fn a_cached_result_runs_no_start_hook() {
    let world = with_hook("task_started", "cat >> \"$1\"; echo >> \"$1\"\n", "[task_tool]\ncache = true\n");
    let server = searching();
    assert_eq!(search(&world, &server, &[]).0, 2);
    assert_eq!(search(&world, &server, &[]).0, 0);
    let told = std::fs::read_to_string(world.path("home/told")).unwrap();
    let tasks = world.tasks(3).len();
    assert_eq!((told.lines().count(), tasks), (3, 3), "{told}");
}

#[test]
fn results_are_cached_only_if_switched_on() {
    let (world, server) = (World::new(), searching());
    for _ in 0..2 {
        let (asked, told, ended) = search(&world, &server, &[]);
        assert_eq!((asked, told.contains("answered from")), (2, false));
        expect![[r"
            exit 0
            --- stdout
            It is settled.
            --- stderr
            explore agent-1___________ started: Find it · main (test-model)
            explore agent-1___________ completed · 1 call · <n>k tokens · <t>s
            agent-2___________ completed · main (test-model) · 2 calls · <n>k tokens · <t>s
        "]]
        .assert_eq(&ended.transcript());
    }
    assert!(!world.path("state/cache").exists());
}
