//! Any bytes as an agent file, in both dialects. It looks for panics, for files that take long, and for readings that
//! break what the rest of the program relies on.

#![no_main]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use sortie_agents::{AgentFile, Dialect, Finding, MAX_FILE_BYTES, Reading, Scope, read};
use sortie_policy::Rule;

static TOOLS: LazyLock<Vec<String>> =
    LazyLock::new(|| ["Read", "LS", "Glob", "Grep", "TodoWrite", "WebFetch", "Write", "Edit", "MultiEdit", "Bash", "BashOutput", "KillShell", "Task"].map(str::to_owned).to_vec());

/// Generous, for instrumented code on a busy machine; what grows out of proportion takes longer than this.
const LONG: Duration = Duration::from_secs(2);

fuzz_target!(|bytes: &[u8]| {
    for dialect in [Dialect::Ours, Dialect::Foreign] {
        let path = "any.md".to_owned();
        let file = AgentFile { path, scope: Scope::Project, dialect, trusted: false, bytes: bytes.to_vec() };
        let began = Instant::now();
        let reading = read(&file, &TOOLS);
        assert!(began.elapsed() < LONG, "reading {} bytes took {:?}", bytes.len(), began.elapsed());
        check(&reading, bytes);
    }
});

fn check(reading: &Reading, bytes: &[u8]) {
    let lines = bytes.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() + 1;
    for finding in &reading.findings {
        assert!(finding.line.is_none_or(|line| (1..=lines).contains(&line)), "{finding} of {lines} lines");
        assert!(!finding.to_string().contains(char::is_control), "{finding:?}");
    }
    let broken = reading.findings.iter().any(Finding::is_error);
    assert_eq!(reading.definition.is_none(), broken || reading.name.is_none(), "{reading:?}");
    let Some(definition) = &reading.definition else { return };
    let granted = definition.tools.as_deref().unwrap_or_default();
    // What tools a server has is known when it is asked.
    let is_known = |tool: &str| tool.starts_with("mcp__") || TOOLS.iter().any(|known| known == tool);
    assert!(definition.named_tools().all(is_known), "{granted:?}");
    assert!(granted.iter().all(|rule| rule.parse::<Rule>().is_ok()), "{granted:?}");
    assert!(granted.iter().all(|tool| !definition.disallowed_tools.contains(tool)), "{definition:?}");
    assert!(!definition.name.is_empty() && definition.name.chars().count() <= 64, "{definition:?}");
    assert!(!definition.description.is_empty() && !definition.prompt.is_empty(), "{definition:?}");
    assert!(definition.limits.max_turns != Some(0), "{definition:?}");
    let texts = definition.description.len() + definition.prompt.len();
    assert!(texts <= MAX_FILE_BYTES, "{texts} bytes out of {}", bytes.len());
}
