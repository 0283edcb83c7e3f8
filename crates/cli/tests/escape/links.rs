//! Links: as the last name of a path, as an earlier one, and as another name of the same file.

use std::fs;

use serde_json::json;

use crate::aftermath::assert_all_failed;
use crate::calls::{WRITTEN, call, edit, every_change, every_tool, main_agent, main_agent_in_turns, read, write};
use crate::world::{World, as_each_user};

const BYPASS: &[&str] = &["--permission-mode", "bypass"];
const OUTSIDE: &str = "is outside the workspace";

#[test]
fn s03_a_link_to_an_outside_file_is_followed_by_no_tool() {
    as_each_user(|world| {
        world.link(world.path("outside/canary.txt"), "workspace/link.txt");
        world.link("../outside/canary.txt", "workspace/src/relative.txt");
        world.link("link.txt", "workspace/link-to-link.txt");
        for path in ["link.txt", "link-to-link.txt"] {
            let after = world.run(BYPASS, main_agent(every_tool(path)));
            assert_all_failed(&after.assert_completed().answers(), OUTSIDE);
        }
        // Walks list the link, and do not open its target.
        let walks = [
            call("LS", json!({})),
            call("Glob", json!({"pattern": "**/*.txt"})),
            call("Grep", json!({"pattern": "C.NARY", "output_mode": "content"})),
            read("src/relative.txt"),
        ];
        let answers = world.run(BYPASS, main_agent(walks)).answers();
        assert!(answers[0].text.contains("link.txt"), "{:#?}", answers[0]);
        assert!(!answers[2].text.contains("link.txt:"), "{:#?}", answers[2]);
    });
}

#[test]
fn s04_a_link_on_the_way_to_a_file_is_not_followed_out() {
    as_each_user(|world| {
        world.link(world.path("outside"), "workspace/esc");
        world.link("../..", "workspace/src/up");
        world.link("/", "workspace/root");
        let canary = world.name("outside/canary.txt");
        for path in ["esc/canary.txt", "src/up/outside/canary.txt", &format!("root{canary}")] {
            let after = world.run(BYPASS, main_agent(every_tool(path)));
            assert_all_failed(&after.assert_completed().answers(), OUTSIDE);
        }
        let whole = ["esc", "src/up", "root"].into_iter().flat_map(every_tool);
        assert_all_failed(&world.run(BYPASS, main_agent(whole)).answers(), OUTSIDE);
    });
}

#[test]
fn s06_nothing_is_created_outside_through_a_link() {
    as_each_user(|world| {
        world.link(world.path("outside"), "workspace/esc");
        world.link(world.path("outside/not-yet"), "workspace/dangling");
        let paths = ["esc/new/a/b", "esc/new.txt", "dangling", "dangling/a", "src/../esc/new/a"];
        let creating = |path: &str| {
            let by_edit = json!({"file_path": path, "old_string": "", "new_string": WRITTEN});
            let by_edits = json!({"file_path": path, "edits": [{"old_string": "", "new_string": WRITTEN}]});
            [write(path), call("Edit", by_edit), call("MultiEdit", by_edits)]
        };
        // The world itself checks that nothing new is outside.
        let after = world.run(BYPASS, main_agent(paths.into_iter().flat_map(creating)));
        assert_all_failed(&after.assert_completed().answers(), OUTSIDE);
    });
}

#[test]
fn s07_another_name_of_a_protected_file_does_not_help_to_change_it() {
    as_each_user(|world| {
        let denied = world.write("workspace/secrets/key.txt", "first line\nof a key\n");
        fs::hard_link(&denied, world.path("workspace/copy.txt")).unwrap();
        let flags = ["--permission-mode", "bypass", "--deny", "Edit(secrets/**)"];
        let turns = [vec![read("copy.txt"), read("secrets/key.txt")], vec![edit("copy.txt")], vec![write("copy.txt")]];
        let after = world.run(&flags, main_agent_in_turns(turns));
        after.assert_completed().answers().iter().for_each(crate::aftermath::Answer::assert_done);
        assert_eq!(world.text("workspace/secrets/key.txt"), "first line\nof a key\n");
        assert_eq!(world.text("workspace/copy.txt"), WRITTEN, "the other name has a file of its own now");
        assert_denied_by_its_own_name(world, &flags);
    });
}

fn assert_denied_by_its_own_name(world: &World, flags: &[&str]) {
    let turns = [vec![read("secrets/key.txt")], every_change("secrets/key.txt")];
    let after = world.run(flags, main_agent_in_turns(turns));
    let answers = after.answers();
    for answer in &answers[1..] {
        answer.assert_refused("denied by the flag --deny: its rule `Edit(secrets/**)`");
    }
    assert_eq!(world.text("workspace/secrets/key.txt"), "first line\nof a key\n");
}
