//! A transcript of a command: what each task said, called and got, a line each, indented by depth.

use serde_json::Value;

use super::play::Step;

/// Characters of a line. What is cut is marked.
const WIDTH: usize = 240;
/// Lines of a text. What is cut is marked.
const LINES: usize = 8;

pub(super) fn of(step: &Step) -> String {
    let mut lines =
        vec![format!("$ sortie {}", step.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))];
    for event in &step.events {
        let indent = "  ".repeat(event["depth"].as_u64().unwrap_or_default() as usize);
        lines.extend(told(event).into_iter().map(|line| format!("{indent}{line}")));
    }
    lines.extend(step.said.iter().filter(|line| !line.is_empty()).map(|line| short(line)));
    lines.push(format!(
        "exit code {}, {:.0} s, {} tokens",
        step.exit_code.map_or("none".to_owned(), |code| code.to_string()),
        step.elapsed.as_secs_f64(),
        step.tokens()
    ));
    lines.join("\n") + "\n"
}

fn told(event: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match event["type"].as_str().unwrap_or_default() {
        "task_started" => vec![format!("[{} starts]", text(&event["job"]["config"]["agent"]))],
        "model_replied" => event["reply"]["parts"].as_array().into_iter().flatten().flat_map(part).collect(),
        "model_failed" => vec![short(&format!("[model call failed: {}]", event["error"]))],
        "call_finished" => prefixed("< ", &text(&event["for_model"])),
        "task_ended" => {
            let outcome = &event["outcome"];
            let reason = [&outcome["reason"], &outcome["error"]["message"]].map(text).join(" ");
            vec![
                short(format!("[{} {} {}", text(&outcome["agent"]), text(&outcome["status"]), reason).trim_end()) + "]",
            ]
        }
        _ => Vec::new(),
    }
}

fn part(part: &Value) -> Vec<String> {
    match part["part"].as_str() {
        Some("text") => prefixed("", part["text"].as_str().unwrap_or_default()),
        Some("call") => {
            let words = [&part["tool"], &part["arguments"]].map(|word| word.as_str().unwrap_or_default());
            vec![short(&format!("> {}", words.join(" ")))]
        }
        _ => Vec::new(),
    }
}

/// The first lines of a text, each behind this mark.
fn prefixed(mark: &str, text: &str) -> Vec<String> {
    let all: Vec<&str> = text.lines().collect();
    let mut lines: Vec<String> = all.iter().take(LINES).map(|line| short(&format!("{mark}{line}"))).collect();
    if all.len() > LINES {
        lines.push(format!("{mark}… {} more lines", all.len() - LINES));
    }
    lines
}

fn short(line: &str) -> String {
    let cut: String = line.chars().take(WIDTH).collect();
    if cut.len() < line.len() { format!("{cut}…") } else { cut }
}

fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_transcript_shows_each_task_below_its_parent_and_marks_what_it_cuts() {
        let call = json!({ "part": "call", "id": "1", "tool": "task", "arguments": "{\"task\":\"Read it\"}" });
        let long = (1..=10).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        let step = Step {
            words: vec!["run".to_owned(), "Ask it".to_owned()],
            events: vec![
                json!({ "type": "task_started", "depth": 0, "task_id": "a", "job": { "config": { "agent": "main" } } }),
                json!({ "type": "model_replied", "depth": 0, "task_id": "a", "reply": { "parts": [call] } }),
                json!({ "type": "task_started", "depth": 1, "task_id": "b", "job": { "config": { "agent": "explore" } } }),
                json!({ "type": "call_finished", "depth": 1, "task_id": "b", "for_model": long }),
                json!({ "type": "task_ended", "depth": 0, "task_id": "a", "outcome":
                    { "agent": "main", "status": "partial", "reason": "turns", "usage": { "total_tokens": 7 } } }),
            ],
            said: vec!["warning: slow".to_owned()],
            exit_code: Some(1),
            elapsed: Duration::from_secs(2),
        };
        expect![[r#"
            $ sortie run 'Ask it'
            [main starts]
            > task {"task":"Read it"}
              [explore starts]
              < line 1
              < line 2
              < line 3
              < line 4
              < line 5
              < line 6
              < line 7
              < line 8
              < … 2 more lines
            [main partial turns]
            warning: slow
            exit code 1, 2 s, 7 tokens
        "#]]
        .assert_eq(&of(&step));
    }
}
