//! Small inputs that would take forever, or all memory.

use std::time::{Duration, Instant};

use serde_json::json;
use sortie_testkit::reply;

use crate::calls::{call, delegated, main_agent, main_agent_in_turns, read};
use crate::world::{World, as_each_user};

/// Far more than anything here takes, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn s80_front_matter_bombs_define_no_agent_and_cost_nothing() {
    as_each_user(|world| {
        let aliases: String = (1..9).fold("a0: &a0 [x]\n".to_owned(), |text, level| {
            let all = format!("*a{},", level - 1).repeat(9);
            format!("{text}a{level}: &a{level} [{all}]\n")
        });
        let bombs = [
            ("aliases", aliases),
            ("deep", format!("metadata: {}{}", "[".repeat(100_000), "]".repeat(100_000))),
            ("merge", "base: &b {tools: [Write]}\n<<: *b".to_owned()),
            ("long", format!("metadata: {}", "x".repeat(8 << 20))),
        ];
        for (name, bomb) in &bombs {
            world.agent(name, bomb);
        }
        let began = Instant::now();
        for (name, _) in &bombs {
            let after = world.run(&[], delegated(name, [read("src/main.rs")]));
            assert!(after.told_to_sub_agents().is_empty(), "{name} must not run");
            let answer = after.assert_completed().answer_of("main");
            assert!(answer.failed, "{name}: {:.400}", answer.text);
        }
        assert!(began.elapsed() < PATIENCE);
    });
}

#[test]
fn s81_patterns_that_would_run_forever_are_refused_or_bounded() {
    as_each_user(|world| {
        world.write("workspace/a.txt", "a".repeat(100_000));
        for name in ["one/two", "two"] {
            std::fs::create_dir_all(world.path(&format!("workspace/{name}"))).unwrap();
        }
        world.link("../..", "workspace/one/two/loop");
        world.link("self", "workspace/self");
        let grep = |pattern: &str| call("Grep", json!({"pattern": pattern, "multiline": true}));
        let glob = |pattern: &str| call("Glob", json!({"pattern": pattern}));
        let calls = [
            grep("(a+)+$"),
            grep("((((a{100}){100}){100}){100})"),
            grep(&"(?:a?){50}".repeat(50)),
            grep("(?:){1000000}"),
            grep(&"(".repeat(100_000)),
            glob(&"{a,b}".repeat(30)),
            glob(&"**/".repeat(500)),
            glob(&"*a".repeat(2_000)),
            read("self"),
            read("one/two/loop/one/two/loop/src/main.rs"),
        ];
        let began = Instant::now();
        let after = world.run(&["--timeout", "60s"], main_agent(calls));
        assert!(began.elapsed() < PATIENCE);
        let answers = after.assert_completed().answers();
        for index in [1, 4] {
            assert!(answers[index].failed, "{:.300}", answers[index].text);
        }
        answers[8].assert_failed("too many symbolic links");
        answers[9].assert_done();
    });
}

#[test]
fn s82_arguments_that_are_bombs_are_answered_and_nothing_breaks() {
    as_each_user(|world| {
        world.write("workspace/many.txt", "first line\n");
        let deep = format!("{{\"file_path\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let edits: Vec<_> = (0..10_000).map(|_| json!({"old_string": "first", "new_string": "first"})).collect();
        let bombs = vec![
            reply::raw_call("Read", deep),
            reply::raw_call("Read", format!("{{\"file_path\":\"{}\"}}", "x".repeat(8 << 20))),
            reply::raw_call("Read", "{\"file_path\":\"src/main.rs\",\"file_path\":\"../outside/canary.txt\"}"),
            reply::raw_call("Read", "[]"),
            reply::raw_call("Read", "{\"file_path\":"),
            reply::raw_call("Write", "{\"file_path\":\"new.txt\",\"content\":\"x\",\"content\":\"y\"}"),
            call("MultiEdit", json!({"file_path": "many.txt", "edits": edits})),
            call("TodoWrite", json!({"todos": "x"})),
        ];
        let turns = [vec![read("many.txt")], bombs];
        let after = world.run(&["--permission-mode", "bypass", "--timeout", "60s"], main_agent_in_turns(turns));
        let answers = after.assert_completed().answers();
        for answer in answers.iter().skip(1).filter(|answer| answer.tool == "Read" || answer.tool == "TodoWrite") {
            assert!(answer.failed && answer.text.len() < 10_000, "{:.400}", answer.text);
        }
        assert_unchanged(world);
    });
}

fn assert_unchanged(world: &World) {
    assert_eq!(world.text("workspace/many.txt"), "first line\n");
}
