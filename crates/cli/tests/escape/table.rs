//! Every attack on paths, commands, git, trust, delegation, servers, the network and displays, with the proof that it
//! fails, or its obstacle.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// State of an attack.
#[derive(Debug)]
enum Standing {
    /// All tests of this suite whose names begin with the id.
    Here,
    /// Test closer to the code: its file from the repository's root, and its name.
    At(&'static str, &'static str),
    /// Feature that it, or the rest of it, needs first.
    Waits(&'static str),
}

use Standing::{At, Here, Waits};

const RULES: &str = "crates/policy/tests/it/property.rs";
const RESUME: &str = "crates/policy/tests/it/resume.rs";
const ASK: &str = "crates/cli/tests/it/ask.rs";
const HOSTILE: &str = "crates/cli/tests/it/hostile.rs";
const EXECUTED: &str = "crates/shell-reader/tests/it/bash.rs";
const ARMED: &str = "crates/policy/tests/it/armed.rs";
const LINES: &str = "crates/policy/tests/it/lines.rs";
const TRAPS: &str = "crates/sandbox/tests/it/git/traps.rs";
const FILTERS: &str = "crates/sandbox/tests/it/git/named.rs";
const BARE: &str = "crates/sandbox/tests/it/git/bare.rs";
const RACE: &str = "crates/sandbox/tests/it/race.rs";
const SPECIAL: &str = "crates/sandbox/tests/it/special.rs";
const MEMORY: &str = "crates/tools/tests/it/memory.rs";
const REBINDING: &str = "crates/tools/tests/it/web_fetch/rebinding.rs";
const BOMBS: &str = "crates/tools/tests/it/web_fetch/bombs.rs";
const GATE: &str = "crates/mcp/tests/it/http/gate.rs";
const BOUNDS: &str = "crates/mcp/tests/it/http/bounds.rs";
const HOSTILE_HOST: &str = "crates/mcp/tests/it/server/hostile.rs";
const SESSIONS: &str = "crates/mcp/tests/it/http/sessions.rs";
const MCP: &str = "crates/cli/tests/it/mcp.rs";
const MCP_HTTP: &str = "crates/cli/tests/it/mcp_http.rs";

/// Features that attacks wait for.
const CAPABILITIES: [&str; 6] = ["worktrees", "resume", "limits", "MCP", "fleet", "screen"];

/// Fewer cases than this are too few.
const MIN_CASES: usize = 110;

const TABLE: &[(&str, &[Standing])] = &[
    // Paths and files.
    ("s01", &[Here]),
    ("s02", &[Here]),
    ("s03", &[Here]),
    ("s04", &[Here]),
    ("s05", &[Here, At(RACE, "s05_outside_bytes_are_never_read_while_a_directory_and_a_link_are_swapped")]),
    ("s06", &[Here, At(RACE, "s06_nothing_is_created_outside_while_a_directory_and_a_link_are_swapped")]),
    ("s07", &[Here]),
    ("s09", &[Here]),
    ("s10", &[Here]),
    ("s11", &[Here, Waits("MCP")]),
    ("s13", &[Here, At(SPECIAL, "s13_a_file_that_turns_into_a_pipe_never_blocks_an_open")]),
    ("s14", &[Here, At(MEMORY, "a_search_through_lines_of_gibibytes_stays_within_its_memory")]),
    ("s15", &[Here]),
    // Commands.
    ("s17", &[Here, At(LINES, "s17_commands_within_commands_are_judged")]),
    ("s18", &[Here]),
    ("s19", &[Here]),
    ("s20", &[Here]),
    ("s21", &[Here, At(LINES, "s21_a_respelled_command_is_not_allowed")]),
    ("s22", &[Here, At(ARMED, "s22_a_rule_for_a_program_does_not_cover_what_arms_it")]),
    ("s23", &[Here]),
    ("s25", &[Here]),
    ("s26", &[Here]),
    ("s27", &[Here]),
    ("s28", &[Here]),
    ("s29", &[Here]),
    ("s30", &[At(EXECUTED, "every_command_that_bash_executes_was_judged")]),
    ("s31", &[Here]),
    // Git.
    ("s32", &[Here, At(TRAPS, "s32_signatures_are_not_checked_by_a_program_of_the_repository")]),
    (
        "s33",
        &[
            Here,
            At(FILTERS, "s33_a_repository_that_names_programs_is_refused_wherever_they_would_run"),
            Waits("worktrees"),
        ],
    ),
    ("s34", &[Here, At(BARE, "s34_a_nested_bare_repository_does_not_count")]),
    ("s35", &[Here]),
    ("s37", &[Waits("worktrees")]),
    // Configuration and trust.
    (
        "s38",
        &[
            At(HOSTILE, "without_a_model_nothing_starts_and_nothing_connects"),
            At(HOSTILE, "with_a_model_only_the_users_own_server_is_called"),
        ],
    ),
    ("s39", &[Here]),
    ("s40", &[Here]),
    ("s41", &[Here, Waits("MCP")]),
    ("s42", &[Here]),
    ("s43", &[Here]),
    ("s44", &[Here]),
    ("s46", &[At(HOSTILE, "with_a_model_only_the_users_own_server_is_called")]),
    // Delegation.
    ("s47", &[Here]),
    ("s48", &[Here]),
    ("s49", &[Here, At(RULES, "a_child_can_never_do_what_its_parent_may_not")]),
    ("s50", &[At(RESUME, "a_tightened_policy_binds_and_a_loosened_one_does_not_widen"), Waits("resume")]),
    ("s51", &[Here, At(RESUME, "a_rule_about_an_agent_still_matches_after_a_restart"), Waits("resume")]),
    ("s52", &[Here]),
    ("s53", &[Here]),
    ("s54", &[Here]),
    ("s55", &[Here]),
    ("s56", &[Here]),
    (
        "s58",
        &[
            Here,
            At(ASK, "yes_runs_the_call_once_and_the_next_one_is_asked_again"),
            At(ASK, "a_question_names_the_agents_down_to_the_one_that_asks_and_progress_stands_aside"),
        ],
    ),
    ("s59", &[Waits("limits")]),
    ("s60", &[Here]),
    // Servers.
    ("s61", &[At(GATE, "s61_a_request_to_another_host_name_is_refused"), Waits("screen")]),
    (
        "s62",
        &[
            At(GATE, "s62_every_request_from_pages_of_other_sites_is_refused"),
            At(GATE, "s62_a_message_without_the_json_type_is_refused"),
            Waits("screen"),
        ],
    ),
    (
        "s64",
        &[
            At(GATE, "s64_a_client_without_a_token_learns_only_that_one_is_needed"),
            At(GATE, "s64_a_token_in_the_address_opens_nothing"),
            At(GATE, "s64_the_token_goes_no_further_than_the_gate"),
            At(MCP_HTTP, "s64_the_token_is_made_once_for_this_user_alone"),
            At(MCP_HTTP, "s64_a_token_that_others_could_know_is_refused"),
        ],
    ),
    ("s65", &[At(GATE, "s65_a_connection_is_never_upgraded")]),
    (
        "s66",
        &[
            At(GATE, "s66_an_address_reachable_from_other_machines_needs_consent"),
            At(MCP_HTTP, "s66_a_server_that_others_could_reach_needs_an_explicit_flag"),
        ],
    ),
    ("s67", &[Waits("screen")]),
    (
        "s68",
        &[
            At(BOUNDS, "s68_a_too_large_body_is_refused_and_not_kept"),
            At(BOUNDS, "s68_an_invalid_body_is_answered_with_its_fault"),
            At(BOUNDS, "s68_a_call_outside_a_session_is_refused"),
            At(BOUNDS, "s68_the_sender_of_a_too_large_body_can_still_read_the_refusal"),
            At(BOUNDS, "s68_an_id_is_free_after_a_reply_but_not_after_a_cancellation"),
            At(HOSTILE_HOST, "s68_the_id_of_a_cancelled_request_is_never_accepted_again"),
        ],
    ),
    (
        "s69",
        &[
            At(SESSIONS, "s69_a_session_belongs_to_the_token_that_started_it"),
            At(MCP_HTTP, "s69_replacing_the_token_locks_the_old_one_out_at_once"),
        ],
    ),
    ("s70", &[At(MCP, "prints_go_to_stderr_and_only_the_protocol_to_stdout")]),
    // The network.
    ("s71", &[Here]),
    ("s72", &[Here]),
    ("s73", &[Here]),
    ("s74", &[At(REBINDING, "a_connection_goes_to_the_address_that_was_checked")]),
    (
        "s76",
        &[
            At(BOMBS, "a_body_that_decompresses_to_gibibytes_is_cut_within_its_cost"),
            At(BOMBS, "a_dripping_body_is_returned_as_far_as_it_arrived"),
            At(BOMBS, "a_head_of_a_megabyte_is_refused"),
        ],
    ),
    ("s77", &[Here, Waits("screen"), Waits("fleet")]),
    // Displays, parsing, secrets.
    ("s78", &[Here, Waits("screen")]),
    ("s80", &[Here]),
    ("s81", &[Here]),
    ("s82", &[Here]),
    ("s83", &[Here, Waits("MCP")]),
    ("s84", &[Here, Waits("screen"), Waits("fleet")]),
    ("s85", &[Here]),
];

/// All ids of the eight parts of the catalogue; missing numbers are not in it.
fn catalogue() -> Vec<String> {
    let paths = (1..=15).filter(|number| ![8, 12].contains(number));
    let commands = (17..=31).filter(|number| *number != 24);
    let git = (32..=37).filter(|number| *number != 36);
    let trust = (38..=46).filter(|number| *number != 45);
    let delegation = (47..=60).filter(|number| *number != 57);
    let servers = (61..=70).filter(|number| *number != 63);
    let network = (71..=77).filter(|number| *number != 75);
    let display = (78..=85).filter(|number| *number != 79);
    let inside = paths.chain(commands).chain(git).chain(trust).chain(delegation);
    inside.chain(servers).chain(network).chain(display).map(|number| format!("s{number:02}")).collect()
}

/// Names of all tests of this suite, without their modules.
fn tests() -> BTreeSet<String> {
    let output = Command::new(std::env::current_exe().unwrap()).args(["--list", "--format", "terse"]).output().unwrap();
    let listed = String::from_utf8(output.stdout).unwrap();
    let names = listed.lines().filter_map(|line| line.strip_suffix(": test")?.rsplit("::").next());
    names.map(str::to_owned).collect()
}

#[test]
fn every_attack_is_in_the_table_once_and_in_order() {
    let listed: Vec<String> = TABLE.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(listed, catalogue());
}

#[test]
fn the_table_and_the_tests_agree() {
    let tests = tests();
    let begins_with = |id: &str| tests.iter().any(|test| test.starts_with(&format!("{id}_")));
    for (id, standings) in TABLE {
        assert!(!standings.is_empty(), "{id}");
        assert_eq!(standings.iter().any(|standing| matches!(standing, Here)), begins_with(id), "{id}");
        for standing in *standings {
            match standing {
                Here => {}
                At(file, test) => {
                    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
                    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
                    assert!(text.contains(&format!("fn {test}(")), "{id}: {file} has no {test}");
                }
                Waits(capability) => assert!(CAPABILITIES.contains(capability), "{id}: {capability}"),
            }
        }
    }
    let is_listed = |test: &&String| TABLE.iter().any(|(id, _)| test.starts_with(&format!("{id}_")));
    let has_id =
        |test: &&String| test.starts_with('s') && test[1..].starts_with(|letter: char| letter.is_ascii_digit());
    let strays: Vec<&String> = tests.iter().filter(has_id).filter(|test| !is_listed(test)).collect();
    assert!(strays.is_empty(), "{strays:?}");
    let cases = tests.iter().filter(has_id).count();
    assert!(cases >= MIN_CASES, "{cases} cases");
}
