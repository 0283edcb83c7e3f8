//! Paths spelt as if they led inside.

use crate::aftermath::assert_all_failed;
use crate::calls::{every_tool, main_agent, read};
use crate::world::{World, as_each_user};

/// Only the walls around the workspace are in the way.
const BYPASS: &[&str] = &["--permission-mode", "bypass"];
const OUTSIDE: &str = "is outside the workspace";

#[test]
fn s01_a_neighbour_whose_name_begins_like_the_workspaces_is_outside() {
    as_each_user(|world| {
        world.canary("workspace-secret/canary.txt");
        for path in ["../workspace-secret/canary.txt", &world.name("workspace-secret/canary.txt")] {
            let after = world.run(BYPASS, main_agent(every_tool(path)));
            assert_all_failed(&after.assert_completed().answers(), OUTSIDE);
        }
    });
}

#[test]
fn s02_two_hundred_spellings_of_an_outside_file_are_refused() {
    as_each_user(|world| {
        let spellings = spellings(world);
        assert!(spellings.len() >= 200, "{}", spellings.len());
        let after = world.run(BYPASS, main_agent(spellings.iter().map(|path| read(path))));
        let answers = after.assert_completed().answers();
        assert_eq!(answers.len(), spellings.len());
        assert_all_failed(&answers, "`");
        let plain = answers.iter().filter(|answer| answer.text.contains(OUTSIDE)).count();
        assert!(plain >= 150, "most of them simply lead outside: {plain}");
    });
}

/// Spellings of the path to the canary outside.
fn spellings(world: &World) -> Vec<String> {
    let absolute = world.name("outside/canary.txt");
    let ups = ["..", "./..", ".././", "src/../..", "src/./../..", "no/../..", "src//..//..", "no/such/../../.."];
    let downs = ["outside/canary.txt", "outside//canary.txt", "outside/./canary.txt", "outside/../outside/canary.txt"];
    let relative = ups.iter().flat_map(|up| downs.iter().map(move |down| format!("{up}/{down}")));
    let mut spellings: Vec<String> = relative.collect();
    let up_again = |path: &String| format!("src/../{path}");
    spellings.extend(spellings.iter().map(up_again).collect::<Vec<_>>());
    spellings.extend(spellings.iter().take(64).map(|path| format!(".//{path}")).collect::<Vec<_>>());
    let around = |depth: usize| format!("{}{}", "../".repeat(depth), absolute.trim_start_matches('/'));
    spellings.extend((20..70).map(around));
    spellings.extend(["/", "//", "///", "/./", "/../", "/proc/self/root/", "/proc/self/cwd/../"].map(|before| {
        let path = if before.ends_with("cwd/../") { "outside/canary.txt" } else { absolute.trim_start_matches('/') };
        format!("{before}{path}")
    }));
    // No path is decoded, trimmed or cut off.
    let odd = [
        "%2e%2e/outside/canary.txt",
        "..%2foutside%2fcanary.txt",
        "..\\outside\\canary.txt",
        "../outside/canary.txt ",
        " ../outside/canary.txt",
        "../outside/canary.txt\0",
        "../outside/canary.txt\0.rs",
        "src/main.rs\0/../../outside/canary.txt",
        "../outside/canary.txt/",
        "../outside/canary.txt/.",
        "../outside/canary.txt\n",
        "file:../outside/canary.txt",
        "~/../outside/canary.txt",
        "$HOME/../outside/canary.txt",
        "．．/outside/canary.txt",
        "‥/outside/canary.txt",
        "..∕outside∕canary.txt",
        "..\u{200b}/outside/canary.txt",
        "../OUTSIDE/CANARY.TXT",
        "../outside/./././././canary.txt",
    ];
    spellings.extend(odd.map(str::to_owned));
    spellings.push(format!("file://{absolute}"));
    spellings.push(format!("{}/../outside/canary.txt", world.name("workspace")));
    spellings.push(format!("{}src/../../outside/canary.txt", "src/../".repeat(400)));
    spellings
}
