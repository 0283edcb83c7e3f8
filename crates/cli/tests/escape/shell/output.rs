//! Endless output is bounded in the model's input, on the disk, and in memory.

use std::fs;

use serde_json::json;
use sortie_testkit::{Script, reply, when};

use super::{BYPASS, background, bash};
use crate::calls::{call, main_agent};
use crate::world::{PROMPT, World, as_each_user};

const MIB: u64 = 1 << 20;

/// Most bytes that one command may leave on the disk, with some slack.
const MOST: u64 = 17 * MIB;

fn spilled(world: &World) -> u64 {
    world.files("state/reports").iter().map(|file| fs::metadata(file).unwrap().len()).sum()
}

#[test]
fn s85_a_flood_from_a_command_is_cut_counted_and_kept_within_a_bound() {
    as_each_user(|world| {
        let after = world.run(BYPASS, main_agent([bash("yes abcdefg | head -c 50000000")]));
        let answer = after.assert_completed().answer_of("main");
        assert!(answer.text.len() < 60_000, "{}", answer.text.len());
        assert!(
            answer.text.contains("[the first 16,777,216 bytes of it, for people: "),
            "{:.300}",
            answer.text.lines().last().unwrap()
        );
        let spilled = spilled(world);
        assert!(spilled > MIB && spilled < MOST, "{spilled}");
    });
}

#[test]
fn s85_a_flood_in_the_background_is_kept_within_the_same_bound() {
    as_each_user(|world| {
        let look = || call("BashOutput", json!({"bash_id": "bash_1"}));
        let script = Script::new()
            .on(
                when::prompt_contains(PROMPT).turn(0),
                reply::calls([background("yes abcdefg | head -c 50000000; yes")]),
            )
            // Asked until the flood exceeds what is kept in memory.
            .on(when::prompt_contains(PROMPT).last_contains("were not read in time"), reply::text("done"))
            .on(when::prompt_contains(PROMPT), reply::calls([look()]));
        let after = world.run(BYPASS, script);
        after.assert_completed();
        assert!(after.answers().iter().all(|answer| answer.text.len() < 60_000), "each look is bounded");
        assert!(spilled(world) < MOST, "{}", spilled(world));
    });
}
