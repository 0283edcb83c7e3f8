//! Any text as rules and a command line under them. It looks for panics, for lines that take long, and for verdicts that
//! break what the rest of the program relies on.

#![no_main]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use sortie_policy::{Decision, Judge, Places, Rule};
use sortie_protocol::{Grant, GrantLayer, Mode, Resource};
use sortie_shell_reader::analyse;

/// Generous, for instrumented code on a busy machine; what grows out of proportion takes longer than this.
const LONG: Duration = Duration::from_secs(2);
const ROOT: &str = "/people/me/project";

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    // Rules line by line, an empty line, and the command line.
    let (rules, line) = text.split_once("\n\n").unwrap_or(("Bash(ls:*)", &text));
    let rules: Vec<String> = rules.lines().take(8).filter_map(readable).collect();
    let began = Instant::now();
    check(&rules, line);
    assert!(began.elapsed() < LONG, "{} bytes took {:?}", bytes.len(), began.elapsed());
});

/// A rule that can be read, and is then read again as the same.
fn readable(text: &str) -> Option<String> {
    let rule: Rule = text.parse().ok()?;
    let again: Rule = rule.to_string().parse().expect("what was read can be read");
    assert_eq!(rule, again);
    Some(rule.to_string())
}

fn check(rules: &[String], line: &str) {
    let analysis = analyse(line, Some(Path::new(ROOT)));
    assert_eq!(analysis.understood, analysis.why_not.is_none(), "{analysis:?}");
    let settings = |allow: &[String], deny: &[String]| GrantLayer {
        allow: allow.to_vec(),
        deny: deny.to_vec(),
        mode: Some(Mode::Default),
        ..GrantLayer::new("settings")
    };
    let whole = |rule: &String| ["Bash", "Bash(*)", "Bash(:*)"].contains(&rule.as_str());
    let allowed = decide(settings(rules, &[]), line);
    if allowed.is_allowed() && !rules.iter().any(whole) {
        assert!(analysis.understood, "allowed, not understood: {analysis:?}");
    }
    if let Decision::Ask(ground) = &allowed
        && !ground.remedies.is_empty()
    {
        let more: Vec<String> = rules.iter().chain(&ground.remedies).cloned().collect();
        assert!(decide(settings(&more, &[]), line).is_allowed(), "{:?} does not help {line:?}", ground.remedies);
    }
    let everything = vec!["Bash".to_owned()];
    assert!(decide(settings(&[], &everything), line).is_denied());
    if !decide(settings(rules, rules), line).is_denied() {
        assert!(!allowed.is_allowed(), "what is denied as well is still allowed");
    }
    // What one rule denies is denied in company, too.
    for rule in rules {
        if decide(settings(&everything, std::slice::from_ref(rule)), line).is_denied() {
            assert!(decide(settings(&everything, rules), line).is_denied());
        }
    }
}

fn decide(layer: GrantLayer, line: &str) -> Decision {
    let home = Some(PathBuf::from("/people/me"));
    let places = Places { root: Some(PathBuf::from(ROOT)), home, ..Places::default() };
    let judge = Judge::new(&Grant { layers: vec![layer] }, places).expect("rules that were read before");
    judge.decide("Bash", &Resource::Command { line: line.to_owned(), directory: PathBuf::new() })
}
