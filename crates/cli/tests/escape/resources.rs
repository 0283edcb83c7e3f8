//! Commands that exhaust a resource stop at their wall, while another task's commands and the program continue.
//!
//! Each attack makes the file `wall` when it gets there, and stays until a sibling's command has made the file `go`. If
//! the sibling could not continue, neither would end.

use serde_json::json;
use sortie_testkit::ScriptedPart;

use crate::aftermath::Answer;
use crate::calls::{agent_in_turns, call, main_agent, task, with_agent};
use crate::world::{World, as_each_user};

/// Wait of an attack at its wall.
const HOLD_OUT: &str = "until [ -e go ]; do sleep 0.05; done; kill $! 2> /dev/null; wait; echo held out";
/// Commands of the sibling.
const GO_ON: &str = "until [ -e wall ]; do sleep 0.05; done; echo alive > new.txt && cat new.txt && : > go";

fn bash(line: &str) -> ScriptedPart {
    call("Bash", json!({"command": line, "timeout": 60_000}))
}

/// Answers of two parallel sub-agents: one attacks, the other makes its calls one by one.
fn attacked(world: &World, outer: &[&str], attack: &str, sibling: Vec<ScriptedPart>) -> (Answer, Vec<Answer>) {
    let script = main_agent([task("bash", "BREAKER"), task("general-purpose", "SIBLING")]);
    let script = with_agent(script, "BREAKER", [bash(attack)]);
    let script = agent_in_turns(script, "SIBLING", sibling.into_iter().map(|call| vec![call]));
    let after = world.run_under(outer, &["--permission-mode", "accept-edits", "--allow", "Bash"], script);
    after.assert_completed();
    (after.answer_of("bash"), after.answers_of("general-purpose"))
}

/// Asserts that the attack held out, and that its sibling continued meanwhile.
fn assert_both(attack: &Answer, sibling: &[Answer]) {
    assert!(!attack.failed && attack.text.contains("held out"), "{:.4000}", attack.text);
    assert!(!sibling[0].failed && sibling[0].text.contains("alive"), "{sibling:#?}");
}

/// Words to run the program under, with the workspace on a private disk with these options, gone with the program.
pub(crate) fn on_a_disk<'a>(world: &World, mount: &'a str) -> Vec<&'a str> {
    let mut words = vec!["unshare", "--mount", "--propagation", "private"];
    if world.uid() != 0 {
        words.push("--map-root-user");
    }
    words.extend(["sh", "-c", mount, "sh"]);
    words
}

#[test]
fn s31_a_fork_bomb_hits_its_wall_and_a_sibling_continues() {
    as_each_user(|world| {
        // Every process forks until it cannot. Without a wall, the numbers grow and end it.
        let bomb = "while ($$ < 5000) { next if defined fork; open(F, \">\", \"wall\"); last } \
                    select(undef, undef, undef, 0.1) until -e \"go\"";
        let (attack, sibling) = attacked(world, &[], &format!("perl -e '{bomb}'; echo held out"), vec![bash(GO_ON)]);
        assert_both(&attack, &sibling);
    });
}

#[test]
fn s31_endless_memory_is_refused_and_a_sibling_continues() {
    as_each_user(|world| {
        let take = "$x = \"a\" x (10 * 1024 ** 3); print \"all of it\"";
        let attack = format!("perl -e '{take}' || : > wall; {HOLD_OUT}");
        let (attack, sibling) = attacked(world, &[], &attack, vec![bash(GO_ON)]);
        assert_both(&attack, &sibling);
        assert!(!attack.text.contains("all of it"), "{attack:#?}");
    });
}

#[test]
fn s31_endless_shared_memory_is_refused_and_a_sibling_continues() {
    as_each_user(|world| {
        // Each process asks for a gibibyte and touches nothing, so that a test that fails breaks no machine.
        let (map, make) = if cfg!(target_arch = "x86_64") { (9, 319) } else { (222, 279) };
        let map = format!("syscall({map}, 0, 1 << 30, 3, 0x21, -1, 0) != -1 or print \"refused \"");
        let file = format!("syscall({make}, 0, 0) == -1 and $!{{ENOSYS}} or print \"made \"");
        let attack = format!("for i in 1 2 3 4 5; do perl -e '{map}; {file}'; done; : > wall; {HOLD_OUT}");
        let (attack, sibling) = attacked(world, &[], &attack, vec![bash(GO_ON)]);
        assert_both(&attack, &sibling);
        assert!(attack.text.starts_with("refused held out"), "{attack:#?}");
    });
}

#[test]
fn s31_endless_output_is_cut_and_a_sibling_continues() {
    as_each_user(|world| {
        let attack = format!("yes & : > wall; {HOLD_OUT}");
        let (attack, sibling) = attacked(world, &[], &attack, vec![bash(GO_ON)]);
        assert_both(&attack, &sibling);
        assert!(attack.text.len() < 40_000, "{} bytes", attack.text.len());
        let spilled = world.files("state").iter().map(|file| file.metadata().unwrap().len()).max();
        assert!(spilled.is_some_and(|bytes| bytes <= 16 << 20), "{spilled:?}");
    });
}

#[test]
fn s31_endless_files_are_made_and_a_sibling_continues() {
    const MOUNT: &str = "mount -t tmpfs -o size=64m,nr_inodes=200000 many \"$PWD\" && cd \"$PWD\" && exec \"$@\"";
    as_each_user(|world| {
        let make = "for (1 .. 100_000) { open(F, \">\", \"many/$_\") or die $! }";
        let attack = format!("mkdir many && perl -e '{make}' && : > wall; {HOLD_OUT}");
        let sibling = vec![bash(GO_ON), call("Glob", json!({"pattern": "many/*"}))];
        let (attack, sibling) = attacked(world, &on_a_disk(world, MOUNT), &attack, sibling);
        assert_both(&attack, &sibling);
        assert!(attack.text.contains("changed files are not listed"), "{attack:#?}");
        sibling[1].assert_done();
        assert!(sibling[1].text.len() < 40_000, "{} bytes", sibling[1].text.len());
    });
}

#[test]
fn s31_a_full_disk_fails_what_needs_it_and_a_sibling_continues() {
    const MOUNT: &str = "mount -t tmpfs -o size=1m small \"$PWD\" && cd \"$PWD\" && exec \"$@\"";
    as_each_user(|world| {
        let attack = format!("head -c 1G /dev/zero > big; : > wall; {HOLD_OUT}");
        let wait = "until [ -e wall ]; do sleep 0.05; done; echo alive";
        let write = "echo something > new.txt || echo no room";
        let sibling = vec![bash(&format!("{wait}; {write}; rm big && echo something > new.txt && : > go"))];
        let (attack, sibling) = attacked(world, &on_a_disk(world, MOUNT), &attack, sibling);
        assert_both(&attack, &sibling);
        assert!(attack.text.contains("No space left on device"), "{attack:#?}");
        assert!(sibling[0].text.contains("no room"), "{sibling:#?}");
    });
}
