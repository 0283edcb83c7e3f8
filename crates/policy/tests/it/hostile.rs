//! Nonsense texts: reading them never panics and always gives the same result.

use std::path::Path;

use sortie_policy::{Judge, Redactor, Rule, protected};

use super::draw::Draw;
use super::support::{agent, command, deny, grant, host, path, places};

const TEXTS: u64 = 5_000;

/// A few pieces side by side.
fn text(draw: &mut Draw, pieces: &[&str]) -> String {
    (0..draw.below(9)).map(|_| draw.one_of(pieces)).collect()
}

#[test]
fn any_text_is_a_rule_or_an_error_and_rules_survive_a_round_trip() {
    let pieces = [
        "Read", "Edit", "Bash", "WebFetch", "Task", "mcp__", "mcp__a", "__", "(", ")", "*", "**", "/", "//", "~", "~/",
        ".", "..", "[", "]", "[!", "a-z", "-", "{", "}", "\\", "?", "!", ":*", " ", "domain:", "é", "\u{200b}", "𝔾",
        "git", ".git", "\0", "\n", "~1", "İ", "ß", "%2e", "[::1]", "\u{fffd}",
    ];
    let mut draw = Draw(1);
    let mut rules = 0;
    for _ in 0..TEXTS {
        let text = text(&mut draw, &pieces);
        let named = format!("{}({text})", draw.one_of(&["Read", "Edit", "Bash", "WebFetch", "Task"]));
        for text in [&text, &named] {
            let Ok(rule) = text.parse::<Rule>() else { continue };
            rules += 1;
            assert_eq!(rule.to_string().parse::<Rule>().as_ref(), Ok(&rule));
            let judge = Judge::new(&grant([deny(&[text])]), places()).expect("a rule can be used");
            for tool in ["Read", "Write", "Bash", "WebFetch", "Task"] {
                for resource in [path(text), command(text), host(text), agent(text)] {
                    judge.decide(tool, &resource);
                }
            }
        }
        let _ = protected(Path::new(&text));
    }
    assert!(rules > TEXTS / 4, "only {rules} were rules");
}

#[test]
fn redacting_any_text_leaves_no_secret_to_find() {
    let key = "aB3".repeat(20);
    let pieces = [
        "ghp_",
        "sk-",
        "sk-proj-",
        "AKIA",
        "eyJ",
        "://",
        "user:",
        "@",
        "Authorization: ",
        "Bearer ",
        "-----BEGIN ",
        "PRIVATE KEY-----",
        "\n",
        "-----END ",
        "SG.",
        ".",
        "hf_",
        "npm_",
        "é",
        "🦀",
        "\\n",
        "\"",
        " ",
        "secret_access_key=",
        "known-value-1",
        "known-value",
        "xoxb-",
        key.as_str(),
        &key[..16],
        &key[..40],
    ];
    let redactor = Redactor::new(vec!["known-value-1".to_owned(), "value-1known".to_owned()]);
    let mut draw = Draw(2);
    let mut found = 0;
    for _ in 0..TEXTS {
        let text = text(&mut draw, &pieces);
        let once = redactor.redact(&text);
        found += once.count;
        assert!(!once.text.contains("known-value-1"), "{text:?} became {:?}", once.text);
        // If secrets are separated, none is left for a second pass.
        let apart = text.replace("known-value-1", " known-value-1 ");
        let once = redactor.redact(&apart);
        let again = redactor.redact(&once.text);
        assert_eq!(again.text, once.text, "{apart:?} was not yet clean");
    }
    assert!(found > 500, "only {found} were found");
}
