//! Agent files as people write them, good, broken and hostile, and the result of reading each.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use sortie_agents::{AgentDefinition, AgentFile, Dialect, Reading, Scope, ServerUse, read};
use sortie_protocol::Limits;

use crate::tools;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// The files of one dialect, ordered by name.
fn files(folder: &str, dialect: Dialect) -> Vec<AgentFile> {
    let mut paths: Vec<PathBuf> = fs::read_dir(root().join("corpus").join(folder))
        .expect("the corpus is there")
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    paths.sort();
    let file = |path: PathBuf| AgentFile {
        path: path.file_name().expect("a file").to_string_lossy().into_owned(),
        scope: Scope::Project,
        dialect,
        trusted: false,
        bytes: fs::read(&path).expect("a readable file"),
    };
    paths.into_iter().map(file).collect()
}

fn render(reading: &Reading) -> String {
    let findings = reading.findings.iter().map(|finding| format!("{finding}\n")).collect::<Vec<_>>().concat();
    let definition = match &reading.definition {
        None => format!("no definition of {:?}\n", reading.name.as_deref().unwrap_or_default()),
        Some(definition) => render_definition(definition),
    };
    findings + &definition
}

fn render_definition(definition: &AgentDefinition) -> String {
    let AgentDefinition { name, aliases, description, prompt, tools, disallowed_tools, model, .. } = definition;
    let AgentDefinition { limits, color, initial_prompt, delegable, origin, mode, never_asks, .. } = definition;
    assert!(aliases.is_empty() && *delegable && origin.path.is_some(), "no file says otherwise");
    assert!(!definition.approves_reads, "no file can say so");
    let conduct = match (mode, never_asks) {
        (None, false) => String::new(),
        (mode, never_asks) => format!("mode {mode:?}, never asks {never_asks}\n"),
    };
    let max_turns = limits.max_turns;
    let limits = match (Limits { max_turns: None, ..*limits }) {
        others if others == Limits::default() => String::new(),
        others => format!("other limits {}\n", serde_json::to_string(&others).expect("they can be written")),
    };
    let output_schema = definition.output_schema.as_ref().map(|schema| format!("output schema {schema}\n"));
    let output_schema = output_schema.unwrap_or_default();
    let servers = match &definition.servers[..] {
        [] => String::new(),
        servers => format!("servers {:?}\n", servers.iter().map(ServerUse::name).collect::<Vec<_>>()),
    };
    format!(
        "name {name:?}\ndescription {description:?}\ntools {tools:?}\ndisallowed tools {disallowed_tools:?}\n{servers}{conduct}\
         model {model:?}\nmax turns {max_turns:?}\n{limits}{output_schema}color {color:?}\ninitial prompt {initial_prompt:?}\nprompt {prompt:?}\n"
    )
}

fn each_file_is_read_as_its_golden_file_says(folder: &str, dialect: Dialect, at_least: usize) {
    let tools = tools();
    let files = files(folder, dialect);
    assert!(files.len() >= at_least, "the corpus has lost files: {}", files.len());
    for file in files {
        let golden = root().join("golden").join(folder).join(&file.path).with_extension("txt");
        expect_file![golden].assert_eq(&render(&read(&file, &tools)));
    }
}

#[test]
fn our_files_are_read_strictly() {
    each_file_is_read_as_its_golden_file_says("ours", Dialect::Ours, 60);
}

#[test]
fn foreign_files_are_read_as_far_as_they_work() {
    each_file_is_read_as_its_golden_file_says("foreign", Dialect::Foreign, 30);
}
