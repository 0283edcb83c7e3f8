//! Properties of every file, whatever it contains.

use proptest::prelude::*;
use sortie_agents::{AgentFile, Dialect, Finding, Reading, Registry, Scope, rank, read};

use crate::{TOOLS, tools};

fn file(dialect: Dialect, bytes: Vec<u8>) -> AgentFile {
    AgentFile { path: "any.md".to_owned(), scope: Scope::Project, dialect, trusted: false, bytes }
}

/// Typical lines of front matter, and some that break it.
fn line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        Just("name"),
        Just("description"),
        Just("tools"),
        Just("disallowedTools"),
        Just("maxTurns"),
        Just("outputSchema"),
        Just("model"),
        Just("hooks"),
        Just("memory"),
        Just("<<"),
        Just("odd key"),
    ];
    let value = prop_oneof![
        Just(String::new()),
        Just("Read, Grep".to_owned()),
        Just("[Read, Task]".to_owned()),
        Just("{type: object, \"\\x07\": 1}".to_owned()),
        Just("{type: string, maxLength: 5, enum: [\"1\", 1]}".to_owned()),
        Just("*a".to_owned()),
        Just("&a 1".to_owned()),
        Just("!!str x".to_owned()),
        Just("use when: x".to_owned()),
        Just("|".to_owned()),
        Just("\"open".to_owned()),
        "[a-z]{1,8}",
        "[0-9]{1,6}",
        any::<String>(),
    ];
    prop_oneof![
        6 => (key, value).prop_map(|(key, value)| format!("{key}: {value}")),
        1 => Just("  - Read".to_owned()),
        1 => Just("  more: text".to_owned()),
        1 => Just("---".to_owned()),
        1 => Just("...".to_owned()),
        1 => any::<String>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(line(), 0..12).prop_map(|lines| format!("---\n{}\n---\nWork.\n", lines.join("\n")))
}

fn check(reading: &Reading, bytes: &[u8]) -> Result<(), TestCaseError> {
    let lines = bytes.iter().filter(|&&byte| byte == b'\n' || byte == b'\r').count() + 1;
    prop_assert!(reading.findings.iter().filter_map(|finding| finding.line).all(|line| (1..=lines).contains(&line)));
    let broken = reading.findings.iter().any(Finding::is_error);
    prop_assert_eq!(reading.definition.is_none(), broken || reading.name.is_none());
    prop_assert!(reading.findings.iter().all(|finding| !finding.to_string().contains(char::is_control)));
    if let Some(definition) = &reading.definition {
        let granted = definition.tools.iter().flatten();
        prop_assert!(definition.named_tools().all(|tool| tools().iter().any(|known| known == tool)));
        prop_assert!(granted.clone().all(|rule| rule.parse::<sortie_policy::Rule>().is_ok()));
        prop_assert!(granted.clone().all(|tool| !definition.disallowed_tools.contains(tool)));
        prop_assert!(
            definition.limits.max_turns != Some(0) && !definition.name.is_empty() && !definition.prompt.is_empty()
        );
    }
    Ok(())
}

/// Front matter that denies tools, in the ways in which people get it wrong, and the tools.
fn denial() -> impl Strategy<Value = (String, Vec<String>)> {
    let key = prop_oneof![
        Just("disallowedTools: "),
        Just("disallowedTools:"),
        Just("disallowedTools : "),
        Just("\"disallowedTools\": "),
        Just("  disallowedTools: "),
        Just("disallowed-tools: "),
        Just("DisallowedTools "),
        Just("disallowedTools = "),
        Just("- disallowedTools: "),
        Just("disallowedTools:\n  - "),
    ];
    let mark = prop_oneof![
        5 => Just(", "),
        1 => prop_oneof![
            Just(" "), Just("; "), Just("|"), Just(","), Just("\n"), Just("\n  - "), Just(",\n"), Just(",\n  "),
            Just("["), Just("]"), Just("\""), Just("'"), Just("*"), Just(": "), Just("/"), Just("{"),
        ],
    ];
    let items = proptest::collection::vec((proptest::sample::select(TOOLS.to_vec()), mark), 1..5);
    let above = prop_oneof![Just("Reviews code"), Just("Use when: asked"), Just("'Reviews'"), Just("[WIP] Reviews")];
    (above, key, items, prop_oneof![Just(""), Just("[")]).prop_map(|(above, key, items, open)| {
        let tools = items.iter().map(|(tool, _)| (*tool).to_owned()).collect();
        let list: String = items.iter().flat_map(|(tool, mark)| [*tool, *mark]).collect();
        (format!("---\nname: any\ndescription: {above}\n{key}{open}{list}\n---\nWork.\n"), tools)
    })
}

proptest! {
    #[test]
    fn no_denial_is_ever_lost((text, denied) in denial()) {
        for dialect in [Dialect::Ours, Dialect::Foreign] {
            if let Some(definition) = read(&file(dialect, text.clone().into_bytes()), &tools()).definition {
                let lost: Vec<_> = denied.iter().filter(|tool| !definition.disallowed_tools.contains(tool)).collect();
                prop_assert!(lost.is_empty(), "{lost:?} of {text}");
            }
        }
    }

    #[test]
    fn a_definition_has_no_errors_and_findings_point_into_the_file(text in text()) {
        for dialect in [Dialect::Ours, Dialect::Foreign] {
            let bytes = text.clone().into_bytes();
            check(&read(&file(dialect, bytes.clone()), &tools()), &bytes)?;
        }
    }

    #[test]
    fn any_bytes_can_be_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for dialect in [Dialect::Ours, Dialect::Foreign] {
            check(&read(&file(dialect, bytes.clone()), &tools()), &bytes)?;
        }
    }

    #[test]
    fn the_foreign_dialect_reads_whatever_ours_accepts_in_the_same_way(text in text()) {
        let ours = read(&file(Dialect::Ours, text.clone().into_bytes()), &tools());
        let foreign = read(&file(Dialect::Foreign, text.into_bytes()), &tools());
        if let Some(ours) = ours.definition {
            let foreign = foreign.definition.map(|definition| (definition.name, definition.tools, definition.model));
            prop_assert_eq!(Some((ours.name, ours.tools, ours.model)), foreign);
        }
    }

    #[test]
    fn a_ranking_is_in_order_and_its_best_agent_has_enough_words(text in "[a-zA-Z ]{0,80}") {
        let registry = Registry::builtin();
        let ranking = rank(&registry, &text);
        prop_assert!(ranking.best().is_none_or(|best| best.words.len() >= ranking.needed));
        prop_assert!(ranking.matches.iter().all(|found| found.words.len() <= ranking.words.len() && found.score > 0.0));
        prop_assert_eq!(ranking.best().is_none(), ranking.why_none.is_some());
    }
}
