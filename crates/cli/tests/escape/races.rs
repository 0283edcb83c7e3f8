//! Files and directories that change while tools use them.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;
use sortie_testkit::ScriptedPart;

use crate::calls::{call, main_agent_in_turns, read};
use crate::world::{World, as_each_user};

const TURNS: usize = 4;
const CALLS: usize = 240;

/// Turns of reads, searches and writes below a directory.
fn storm(directory: &str) -> Vec<Vec<ScriptedPart>> {
    let one = |turn: usize, number: usize| match number % 4 {
        0 => read(&format!("{directory}/canary.txt")),
        1 => call("Grep", json!({"pattern": "C.NARY", "path": directory, "output_mode": "content"})),
        2 => call("Write", json!({"file_path": format!("{directory}/new/{turn}-{number}.txt"), "content": "x"})),
        _ => read(&format!("{directory}/inside.txt")),
    };
    (0..TURNS).map(|turn| (0..CALLS).map(|number| one(turn, number)).collect()).collect()
}

fn swap(world: &World) -> impl Fn() + Sync {
    let [flip, real, outside] = ["workspace/flip", "workspace/real", "outside"].map(|name| world.path(name));
    move || {
        fs::rename(&flip, &real).unwrap();
        if symlink(&outside, &flip).is_ok() {
            fs::remove_file(&flip).unwrap();
        }
        // Meanwhile the program may have created the directory again, to write into it.
        while fs::rename(&real, &flip).is_err() {
            fs::remove_dir_all(&flip).ok();
        }
    }
}

#[test]
fn s05_a_directory_that_turns_into_a_link_and_back_leads_nowhere() {
    as_each_user(|world| {
        world.write("workspace/flip/inside.txt", "INSIDE\n");
        world.hand_over();
        let flags = ["--permission-mode", "bypass"];
        let (after, swaps) = world.run_while(swap(world), &flags, main_agent_in_turns(storm("flip")));
        let answers = after.assert_completed().answers();
        assert_eq!(answers.len(), TURNS * CALLS);
        let inside = answers.iter().filter(|answer| !answer.failed).count();
        assert!(swaps > 100 && inside > 0, "it was really raced: {swaps} swaps, {inside} calls went well");
    });
}

#[test]
fn s15_a_file_that_shrinks_while_it_is_read_does_no_harm() {
    as_each_user(|world| {
        let path = world.write("workspace/shrinking.txt", "");
        let content = "a line of text\n".repeat(200_000);
        let change = || {
            fs::write(&path, &content).unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_len(10).unwrap();
        };
        let looks = |_| {
            let grep = json!({"pattern": "text$", "path": "shrinking.txt", "output_mode": "count"});
            (0..20).flat_map(|_| [read("shrinking.txt"), call("Grep", grep.clone())]).collect()
        };
        let (after, shrinks) = world.run_while(change, &[], main_agent_in_turns((0..4).map(looks)));
        assert_eq!(after.assert_completed().answers().len(), 160);
        assert!(shrinks > 10, "{shrinks}");
    });
}
