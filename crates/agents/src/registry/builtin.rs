//! The built-in agents. Their role prompts are files, so that they are read and reviewed as prose.

use sortie_protocol::Limits;

use crate::definition::{AgentDefinition, Origin};

const READ_TOOLS: &[&str] = &["Read", "LS", "Glob", "Grep"];
const PLAN_TOOLS: &[&str] = &["Read", "LS", "Glob", "Grep", "TodoWrite"];
const SHELL_TOOLS: &[&str] = &["Bash", "BashOutput", "KillShell"];

/// The files with role prompts, and the agent of each.
pub(crate) const PROMPT_FILES: [(&str, &str); 6] = [
    ("main_prompt.md", "main"),
    ("subagent_general_prompt.md", "general-purpose"),
    ("subagent_explore_prompt.md", "explore"),
    ("subagent_plan_prompt.md", "plan"),
    ("subagent_summary_prompt.md", "summary"),
    ("subagent_bash_prompt.md", "bash"),
];

/// The main agent first, then those that it can delegate to.
pub(crate) fn definitions() -> Vec<AgentDefinition> {
    vec![
        AgentDefinition {
            name: "main".to_owned(),
            aliases: Vec::new(),
            description: "Answers a person's request; delegates what takes many calls".to_owned(),
            prompt: text(include_str!("../../../../prompts/main_prompt.md")),
            tools: None,
            disallowed_tools: Vec::new(),
            servers: Vec::new(),
            mode: None,
            never_asks: false,
            approves_reads: false,
            model: None,
            limits: turns(100),
            output_schema: None,
            fork: None,
            context_files: None,
            color: None,
            initial_prompt: None,
            delegable: false,
            origin: Origin::BUILTIN,
        },
        AgentDefinition {
            name: "general-purpose".to_owned(),
            aliases: vec!["general".to_owned()],
            description: "any work: write, change, test, review; all tools".to_owned(),
            prompt: text(include_str!("../../../../prompts/agents_prompts/subagent_general_prompt.md")),
            tools: None,
            disallowed_tools: Vec::new(),
            servers: Vec::new(),
            mode: None,
            never_asks: false,
            approves_reads: false,
            model: None,
            limits: turns(50),
            output_schema: None,
            fork: None,
            context_files: None,
            color: None,
            initial_prompt: None,
            delegable: true,
            origin: Origin::BUILTIN,
        },
        specialist(
            "explore",
            "find where things are defined, handled, used or tested; read-only",
            include_str!("../../../../prompts/agents_prompts/subagent_explore_prompt.md"),
            READ_TOOLS,
        ),
        specialist(
            "plan",
            "plan a change from the code, read-only",
            include_str!("../../../../prompts/agents_prompts/subagent_plan_prompt.md"),
            PLAN_TOOLS,
        ),
        specialist(
            "summary",
            "summarise files or texts",
            include_str!("../../../../prompts/agents_prompts/subagent_summary_prompt.md"),
            READ_TOOLS,
        ),
        specialist(
            "bash",
            "run commands such as builds and tests",
            include_str!("../../../../prompts/agents_prompts/subagent_bash_prompt.md"),
            SHELL_TOOLS,
        ),
    ]
}

/// An agent for one kind of work, with only the tools for it.
fn specialist(name: &str, description: &str, prompt: &str, tools: &[&str]) -> AgentDefinition {
    AgentDefinition {
        name: name.to_owned(),
        aliases: Vec::new(),
        description: description.to_owned(),
        prompt: text(prompt),
        tools: Some(tools.iter().map(|&tool| tool.to_owned()).collect()),
        disallowed_tools: Vec::new(),
        servers: Vec::new(),
        mode: None,
        never_asks: false,
        approves_reads: false,
        model: None,
        limits: turns(30),
        output_schema: None,
        fork: None,
        context_files: None,
        color: None,
        initial_prompt: None,
        delegable: true,
        origin: Origin::BUILTIN,
    }
}

fn turns(max: u32) -> Limits {
    Limits { max_turns: Some(max), ..Limits::default() }
}

/// A file ends with a newline; a prompt does not.
pub(crate) fn text(file: &str) -> String {
    file.trim_end().to_owned()
}
