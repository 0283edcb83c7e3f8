//! Tools granted together with commands.

use sortie_agents::{Dialect, Scope, read};

use crate::file;

/// The tools of a file with these lines.
fn granted(lines: &str, tools: &[&str]) -> Option<Vec<String>> {
    let text = format!("---\nname: runner\ndescription: runs things\n{lines}\n---\nRun.\n");
    let mut file = file(".claude/agents/runner.md", Scope::Project, "runner");
    file.bytes = text.into_bytes();
    assert_eq!(file.dialect, Dialect::Foreign);
    let tools: Vec<String> = tools.iter().map(|&tool| tool.to_owned()).collect();
    read(&file, &tools).definition.expect("it can be read").tools
}

#[test]
fn an_agent_that_may_run_commands_may_manage_them() {
    let all = ["Read", "Bash", "BashOutput", "KillShell", "WebFetch"];
    let granted = |lines: &str| granted(lines, &all).expect("it has a list").join(" ");
    assert_eq!(granted("tools: Bash, Read"), "Bash Read BashOutput KillShell");
    assert_eq!(
        granted("tools: Bash(git log:*), Bash(git diff:*)"),
        "Bash(git log:*) Bash(git diff:*) BashOutput KillShell"
    );
    assert_eq!(granted("tools: KillShell, Bash, BashOutput"), "KillShell Bash BashOutput");
    assert_eq!(granted("tools: Read, BashOutput"), "Read BashOutput");
    assert_eq!(granted("tools: Bash, Read\ndisallowedTools: KillShell"), "Bash Read BashOutput");
}

#[test]
fn no_missing_tool_is_granted() {
    assert_eq!(granted("tools: Bash", &["Read", "Bash"]), Some(vec!["Bash".to_owned()]));
    assert_eq!(granted("model: opus", &["Read", "Bash", "KillShell"]), None, "it has what its parent has");
}
