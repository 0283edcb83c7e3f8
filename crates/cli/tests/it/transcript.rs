//! Makes output comparable: replaces what differs between runs by names.

use std::path::Path;

const ID_LETTERS: usize = 12;

/// Replaces directories of the world, task ids in order of appearance, times, token counts and ports.
pub(crate) fn normalised(text: &str, root: &Path) -> String {
    let text = text.replace(&*root.to_string_lossy(), "<dir>/");
    let text = number_ids(&text);
    let text = replace_after(&text, "127.0.0.1:", "<port>", |letter| letter.is_ascii_digit());
    replace_measures(&text)
}

fn number_ids(text: &str) -> String {
    let mut ids: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("agent-") {
        rest = &rest[at + "agent-".len()..];
        let letters = rest.chars().take_while(char::is_ascii_lowercase).count();
        if letters == ID_LETTERS && !ids.contains(&&rest[..ID_LETTERS]) {
            ids.push(&rest[..ID_LETTERS]);
        }
    }
    // As long as an id, so that boxes stay square.
    ids.iter().enumerate().fold(text.to_owned(), |text, (index, id)| text.replace(*id, &format!("{:_<12}", index + 1)))
}

fn replace_after(text: &str, before: &str, name: &str, belongs: impl Fn(char) -> bool) -> String {
    let mut parts = text.split(before);
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        replaced += before;
        replaced += name;
        replaced += part.trim_start_matches(&belongs);
    }
    replaced
}

/// `1.2s` becomes `<t>s`: a number with one decimal before an `s` is a time here, and before a `k` a count of tokens.
fn replace_measures(text: &str) -> String {
    let mut replaced = String::new();
    let mut number = String::new();
    for letter in text.chars() {
        if letter.is_ascii_digit() || letter == '.' {
            number.push(letter);
            continue;
        }
        let is_measure = number.contains('.') && !number.starts_with('.');
        replaced += match letter {
            's' if is_measure => "<t>",
            'k' if is_measure => "<n>",
            _ => &number,
        };
        number.clear();
        replaced.push(letter);
    }
    replaced + &number
}

#[test]
fn differences_between_runs_get_stable_names() {
    let text = "<x> agent-abcdefghijkl agent-bbbbbbbbbbbb agent-abcdefghijkl 1.2s 3.4k v1.2 127.0.0.1:4242/v1 /tmp/q/a";
    let expected =
        "<x> agent-1___________ agent-2___________ agent-1___________ <t>s <n>k v1.2 127.0.0.1:<port>/v1 <dir>/a";
    assert_eq!(normalised(text, Path::new("/tmp/q/")), expected);
}
