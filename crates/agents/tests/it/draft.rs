//! The file that a new agent starts from.

use sortie_agents::{AgentFile, Dialect, Scope, draft, read};

use crate::tools;

fn reading(text: String) -> sortie_agents::Reading {
    let file = AgentFile {
        path: "new.md".to_owned(),
        scope: Scope::Project,
        dialect: Dialect::Ours,
        trusted: false,
        bytes: text.into_bytes(),
    };
    read(&file, &tools())
}

#[test]
fn the_draft_is_a_valid_agent_as_it_is() {
    let reading = reading(draft("fact-checker"));
    assert_eq!(reading.findings, []);
    let definition = reading.definition.expect("a definition");
    assert_eq!(definition.name, "fact-checker");
    assert!(definition.prompt.starts_with("You are a sub-agent."), "{}", definition.prompt);
}

#[test]
fn every_line_commented_out_in_the_draft_can_be_used() {
    let text = draft("fact-checker");
    let lines: Vec<&str> = text.lines().map(taken_in).collect();
    let reading = reading(lines.join("\n"));
    assert_eq!(reading.findings, []);
    let definition = reading.definition.expect("a definition");
    assert_eq!(definition.disallowed_tools, ["Task"]);
    assert_eq!(definition.mode, Some(sortie_protocol::Mode::Plan));
    assert_eq!(definition.model.as_deref(), Some("light"));
    assert_eq!(definition.color.as_deref(), Some("cyan"));
    assert!(definition.initial_prompt.is_some());
}

/// Uncomments the line if that makes it a key. Explanations begin with a capital letter.
fn taken_in(line: &str) -> &str {
    let is_key = |text: &str| text.starts_with(char::is_lowercase) && text.contains(": ");
    line.strip_prefix("# ").filter(|rest| is_key(rest)).unwrap_or(line)
}
