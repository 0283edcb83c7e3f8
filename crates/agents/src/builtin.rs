//! The agents that are always there. Their role prompts are files, so that they are read and reviewed as prose.

use crate::{AgentDefinition, Origin};

const READ_TOOLS: [&str; 4] = ["Read", "LS", "Glob", "Grep"];

/// The names of the files that hold role prompts, and whose they are.
pub(crate) const PROMPT_FILES: [(&str, &str); 5] = [
    ("main_prompt.md", "main"),
    ("subagent_general_prompt.md", "general-purpose"),
    ("subagent_explore_prompt.md", "explore"),
    ("subagent_plan_prompt.md", "plan"),
    ("subagent_summary_prompt.md", "summary"),
];

/// The main agent first, then those that it can delegate to.
pub(crate) fn definitions() -> Vec<AgentDefinition> {
    vec![
        AgentDefinition {
            name: "main".to_owned(),
            aliases: Vec::new(),
            description: "Answers a person's request; delegates what takes many calls".to_owned(),
            prompt: text(include_str!("../../../prompts/main_prompt.md")),
            tools: None,
            disallowed_tools: Vec::new(),
            mode: None,
            never_asks: false,
            approves_reads: false,
            model: None,
            max_turns: Some(100),
            color: None,
            initial_prompt: None,
            delegable: false,
            origin: Origin::BUILTIN,
        },
        AgentDefinition {
            name: "general-purpose".to_owned(),
            aliases: vec!["general".to_owned()],
            description: "any work, all tools".to_owned(),
            prompt: text(include_str!("../../../prompts/agents_prompts/subagent_general_prompt.md")),
            tools: None,
            disallowed_tools: Vec::new(),
            mode: None,
            never_asks: false,
            approves_reads: false,
            model: None,
            max_turns: Some(50),
            color: None,
            initial_prompt: None,
            delegable: true,
            origin: Origin::BUILTIN,
        },
        reader(
            "explore",
            "find things in the workspace, read-only",
            include_str!("../../../prompts/agents_prompts/subagent_explore_prompt.md"),
            &[],
        ),
        reader(
            "plan",
            "plan a change from the code, read-only",
            include_str!("../../../prompts/agents_prompts/subagent_plan_prompt.md"),
            &["TodoWrite"],
        ),
        reader(
            "summary",
            "sum up files or texts",
            include_str!("../../../prompts/agents_prompts/subagent_summary_prompt.md"),
            &[],
        ),
    ]
}

fn reader(name: &str, description: &str, prompt: &str, more_tools: &[&str]) -> AgentDefinition {
    AgentDefinition {
        name: name.to_owned(),
        aliases: Vec::new(),
        description: description.to_owned(),
        prompt: text(prompt),
        tools: Some(READ_TOOLS.iter().chain(more_tools).map(|&tool| tool.to_owned()).collect()),
        disallowed_tools: Vec::new(),
        mode: None,
        never_asks: false,
        approves_reads: false,
        model: None,
        max_turns: Some(30),
        color: None,
        initial_prompt: None,
        delegable: true,
        origin: Origin::BUILTIN,
    }
}

/// A file ends with a newline; a prompt does not.
pub(crate) fn text(file: &str) -> String {
    file.trim_end().to_owned()
}
