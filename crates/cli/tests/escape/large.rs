//! Files, directories and answers that are far too large: bounded memory, and a note about the missing part.

use std::fs::{self, File};
use std::io::Write as _;

use rustix::fs::{Mode, OFlags, mkdirat, openat};
use serde_json::json;
use sortie_protocol::StopReason;
use sortie_testkit::{Script, reply, when};

use crate::calls::{call, main_agent, read, task, write};
use crate::world::{PROMPT, as_each_user};

/// Starts the program with this much address space: its threads and itself fit, a large file does not.
const WITHIN_A_GIBIBYTE: &[&str] = &["/bin/sh", "-c", "ulimit -v 1048576; exec \"$@\"", "sh"];

#[test]
fn s14_a_file_of_a_tebibyte_and_one_endless_line_cost_no_more_than_others() {
    as_each_user(|world| {
        File::create(world.path("workspace/sparse.txt")).unwrap().set_len(1 << 40).unwrap();
        let line = world.write("workspace/line.txt", "");
        // Longer than fits in a gibibyte of memory.
        let mut file = File::create(line).unwrap();
        let piece = "x".repeat(1 << 20);
        for _ in 0..1100 {
            file.write_all(piece.as_bytes()).unwrap();
        }
        let grep = |path: &str| call("Grep", json!({"pattern": "y", "path": path}));
        let calls = [read("sparse.txt"), read("line.txt"), grep("sparse.txt"), grep("line.txt"), grep(".")];
        let after = world.run_under(WITHIN_A_GIBIBYTE, &["--timeout", "120s"], main_agent(calls));
        let answers = after.assert_completed().answers();
        assert!(answers.iter().all(|answer| answer.text.len() < 100_000));
        assert!(answers[1].text.contains("cut") || answers[1].failed, "{:.500}", answers[1].text);
    });
}

#[test]
fn s14_a_crowded_directory_is_listed_in_part_with_a_note() {
    as_each_user(|world| {
        fs::create_dir(world.path("workspace/crowd")).unwrap();
        for number in 0..5_000 {
            File::create(world.path(&format!("workspace/crowd/{number}"))).unwrap();
        }
        let looks = [call("LS", json!({"path": "crowd"})), call("Glob", json!({"pattern": "crowd/*"}))];
        for answer in world.run(&[], main_agent(looks)).assert_completed().answers() {
            assert!(answer.text.lines().count() < 2_000, "{:.300}", answer.text);
            let said = answer.text.lines().last().unwrap_or_default();
            assert!(said.starts_with('[') && said.contains("5000"), "{said}");
        }
    });
}

#[test]
fn s14_a_directory_below_thousands_of_others_is_not_a_trap() {
    as_each_user(|world| {
        // Made level by level, because no path is long enough to name it.
        let mut deepest = rustix::fs::open(world.path("workspace"), OFlags::DIRECTORY, Mode::empty()).unwrap();
        for _ in 0..3_000 {
            mkdirat(&deepest, "d", Mode::RWXU).unwrap();
            deepest = openat(&deepest, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        let calls = [call("Grep", json!({"pattern": "deep"})), call("Glob", json!({"pattern": "**"}))];
        let after = world.run(&["--timeout", "60s"], main_agent(calls));
        assert_eq!(after.assert_completed().answers().len(), 2);
    });
}

#[test]
fn s85_a_flood_of_output_is_cut_and_marked() {
    as_each_user(|world| {
        world.write("workspace/flood.txt", "y\n".repeat(4 << 20));
        let grep = json!({"pattern": "y", "path": "flood.txt", "output_mode": "content"});
        let script = main_agent([read("flood.txt"), call("Grep", grep), task("explore", "CHILD")])
            .on(when::any(), reply::text("y\n".repeat(1 << 20)));
        let after = world.run(&[], script);
        let answers = after.assert_completed().answers();
        for answer in &answers {
            assert!(answer.text.len() < 200_000, "{}: {} bytes", answer.tool, answer.text.len());
        }
        let outcome = after.of_type("task_ended").find(|event| event["outcome"]["agent"] == "explore").unwrap();
        assert_eq!(outcome["outcome"]["truncated"], true);
        assert!(answers[0].text.contains("offset") && answers[1].text.contains('['), "{answers:#.300?}");
    });
}

#[test]
fn s85_no_call_of_a_reply_that_was_cut_is_made() {
    as_each_user(|world| {
        // A server may complete the JSON that it cut, so these calls parse.
        let half = [write("half.txt"), read("src/main.rs")];
        let script = Script::new()
            .on(when::prompt_contains(PROMPT).turn(0), reply::calls(half).stop(StopReason::Length))
            .on(when::prompt_contains(PROMPT), reply::text("done"));
        let after = world.run(&["--permission-mode", "accept-edits"], script);
        let answers = after.assert_completed().answers();
        assert_eq!(answers.len(), 2);
        for answer in &answers {
            assert!(answer.failed && answer.text.contains("your output limit cut this reply"), "{answer:?}");
        }
        assert!(!world.path("workspace/half.txt").exists());
        assert_eq!(after.of_type("call_started").count(), 0);
    });
}

#[test]
fn s85_a_flood_of_calls_is_refused_while_it_arrives() {
    as_each_user(|world| {
        let after = world.run(&["--timeout", "60s"], main_agent((0..20_000).map(|_| read("src/main.rs"))));
        assert_eq!(after.of_type("call_started").count(), 0);
        let ended = after.of_type("task_ended").next().unwrap();
        assert_eq!(ended["outcome"]["error"]["code"], "model_reply_too_large", "{ended}");
    });
}
