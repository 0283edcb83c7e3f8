//! The guards that can be taken out, each with the test that must notice.

/// A guard, named as in the code, and its test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mutant {
    pub(super) guard: &'static str,
    pub(super) suite: Suite,
    /// The test's whole name, modules included.
    pub(super) test: &'static str,
}

/// Suite of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suite {
    /// The built program against a hostile model.
    Escape,
    /// Hostile commands against the walls.
    Sandbox,
    /// The tools' own tests.
    Tools,
    /// Bytes on a socket against the server over HTTP.
    Mcp,
}

impl Suite {
    pub(super) const ALL: [Self; 4] = [Self::Escape, Self::Sandbox, Self::Tools, Self::Mcp];

    /// The package, and its test binary.
    pub(super) fn target(self) -> (&'static str, &'static str) {
        match self {
            Self::Escape => ("sortie", "escape"),
            Self::Sandbox => ("sortie-sandbox", "it"),
            Self::Tools => ("sortie-tools", "it"),
            Self::Mcp => ("sortie-mcp", "it"),
        }
    }
}

const fn escape(guard: &'static str, test: &'static str) -> Mutant {
    Mutant { guard, suite: Suite::Escape, test }
}

const fn sandbox(guard: &'static str, test: &'static str) -> Mutant {
    Mutant { guard, suite: Suite::Sandbox, test }
}

const fn mcp(guard: &'static str, test: &'static str) -> Mutant {
    Mutant { guard, suite: Suite::Mcp, test }
}

pub(super) const MUTANTS: &[Mutant] = &[
    // The door to files.
    escape("path-components", "paths::s01_a_neighbour_whose_name_begins_like_the_workspaces_is_outside"),
    escape("no-links", "links::s04_a_link_on_the_way_to_a_file_is_not_followed_out"),
    escape("regular-files", "special::s13_a_pipe_without_a_writer_is_not_waited_for"),
    escape("private-directory", "spill::s10_a_planted_directory_is_not_used"),
    escape("door-guard", "denied::s11_a_search_hides_a_denied_file_and_mentions_that"),
    Mutant {
        guard: "stale-read",
        suite: Suite::Tools,
        test: "stale::a_change_by_others_is_shown_and_has_to_be_read_before_the_next_edit",
    },
    // Grants.
    escape("deny-rules", "denied::s11_a_denial_overrides_an_allow_rule_for_the_same_thing"),
    escape("empty-list", "project::s44_empty_lists_mean_none"),
    escape("parents-layers", "delegation::s55_an_executor_works_with_what_its_deputy_has"),
    escape("nobody-to-ask", "project::s44_nobody_to_ask_means_no"),
    escape("protected-names", "protected::s40_missing_protected_files_cannot_be_created"),
    escape("gits-other-files", "protected::s42_what_git_obeys_is_changed_under_no_other_name"),
    // Calls at the gate.
    escape("cut-calls", "large::s85_no_call_of_a_reply_that_was_cut_is_made"),
    escape("secret-reads", "secrets::s83_no_file_tool_reads_the_keys_of_a_home_that_is_the_workspace"),
    // Commands at the gate.
    escape("obeyed-variables", "shell::lines::s22_a_denied_command_is_found_in_a_variable"),
    escape("helper-programs", "shell::lines::s21_a_denied_subcommand_is_found_under_its_own_name"),
    escape("every-command", "shell::lines::s17_every_command_of_a_chain_is_judged"),
    escape("armed-words", "shell::lines::s22_a_rule_for_a_program_does_not_allow_its_dangerous_arguments"),
    escape("judged-writes", "shell::lines::s23_writes_of_a_command_are_judged_as_edits"),
    // Commands in their walls.
    escape("wall-names", "shell::protected::s42_no_command_changes_settings_agent_files_or_editor_tasks"),
    sandbox("brokered-attributes", "process::attributes::mode_and_times_of_files_outside_stay_whatever_names_them"),
    sandbox("watched-walls", "process::meanwhile::a_hidden_directory_stays_hidden_whatever_comes_to_stand_there"),
    sandbox("allowed-calls", "process::kernel::calls_on_no_list_do_not_exist"),
    sandbox("lasting-objects", "process::kernel::no_queue_segment_or_semaphore_outlives_a_command"),
    escape("device-nodes", "special::s13_no_command_changes_the_devices_of_this_machine"),
    sandbox("other-priorities", "process::kernel::other_processes_keep_their_priority_and_their_processors"),
    escape("closed-directories", "shell::directory::s40_a_command_runs_in_a_closed_directory_and_plants_nothing_there"),
    escape("taken-away", "shell::repository::s35_no_command_writes_files_that_git_would_run"),
    escape("told-names", "shell::protected::s40_a_new_protected_name_is_always_reported"),
    escape("readers-shell", "shell::readers::s60_the_shell_of_an_agent_that_only_reads_writes_nothing"),
    escape("denied-reads", "shell::secrets::s11_a_denied_file_is_read_by_no_command"),
    escape("secret-places", "shell::secrets::s83_keys_that_people_keep_at_home_are_read_by_no_command"),
    escape("scrubbed-environment", "shell::environment::s83_no_command_finds_a_secret_of_the_environment"),
    escape("trusted-path", "shell::environment::s26_programs_in_the_workspace_do_not_replace_the_systems"),
    sandbox("empty-network", "process::network::no_command_sees_the_sockets_of_this_machine"),
    sandbox("shared-memory", "process::limits::shared_memory_is_limited_for_all_processes_together"),
    escape("no-network", "shell::network::s28_nothing_leaves_a_command_without_a_network"),
    escape("granted-hosts", "shell::proxy::s71_a_command_reaches_the_granted_host_and_no_other"),
    escape(
        "foreign-sockets",
        "shell::sockets::s29_no_command_talks_to_another_program_through_a_socket_of_this_machine",
    ),
    escape("output-cap", "shell::output::s85_a_flood_from_a_command_is_cut_counted_and_kept_within_a_bound"),
    // Git.
    escape("pinned-git", "shell::repository::s32_a_repositorys_fsmonitor_does_not_run"),
    escape("gits-programs", "shell::repository::s33_a_repository_with_its_own_filters_is_not_queried"),
    // Files that a project ships.
    escape("project-narrows", "project::s39_a_repositorys_mode_allow_rules_and_directories_count_for_nothing"),
    escape("trust-digest", "project::s41_a_trusted_file_that_changed_is_no_longer_trusted"),
    escape("built-in-names", "agents::s53_a_project_file_with_a_built_in_agents_name_is_set_aside"),
    // The network.
    escape("web-address", "web::s72_no_spelling_of_an_internal_address_is_fetched"),
    escape("web-redirect", "web::s73_a_redirect_is_judged_like_a_first_request"),
    escape("own-servers", "web::s77_the_programs_own_servers_are_never_fetched"),
    // Callers of the server over HTTP.
    mcp("host-name", "http::gate::s61_a_request_to_another_host_name_is_refused"),
    mcp("page-origin", "http::gate::s62_every_request_from_pages_of_other_sites_is_refused"),
    mcp("http-token", "http::gate::s64_a_client_without_a_token_learns_only_that_one_is_needed"),
    mcp("wide-bind", "http::gate::s66_an_address_reachable_from_other_machines_needs_consent"),
    mcp("session-owner", "http::sessions::s69_a_session_belongs_to_the_token_that_started_it"),
    // Text that comes back.
    escape("redaction", "secrets::s84_keys_in_tool_results_are_redacted_everywhere"),
    escape("report-mark", "delegation::s56_a_childs_report_stays_data_between_marks_that_it_cannot_know"),
    escape("terminal-escapes", "display::s78_no_displayed_text_steers_a_terminal"),
];
