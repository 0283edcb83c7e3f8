//! Text of a question about a call: who asks, the tool, its exact arguments or their effect, and the reason.
//!
//! All of it comes from models and files: nothing in it can move the cursor or hide itself.

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use sortie_engine::Question;
use sortie_protocol::TaskId;

use super::Canvas;
use crate::text::{neutral, paint, width, words};

pub(super) const HEAD: Style = AnsiColor::Yellow.on_default().bold();
const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();
const INDENT: &str = "  ";

/// More lines than anyone reads on a terminal; the rest is counted, and shown on demand.
const MAX_LINES: usize = 400;
/// Columns of one line, for the same reason.
const MAX_CHARS: usize = 2000;

/// Marks in a diff that was cut by the tool: within a line, and at its end.
const CUT_IN_DIFF: &str = "[cut; ";
const LEFT_OUT_OF_DIFF: &str = " not shown]\n";

/// Options for a lasting answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    /// There is a file for lasting rules.
    Possible,
    Impossible,
}

/// Question about a call, as a person sees it.
pub(super) struct Prompt<'a> {
    pub(super) question: &'a Question,
    /// Mark after the name of the agent that asks.
    pub(super) shell_mark: &'a str,
    pub(super) keeping: Keeping,
    pub(super) canvas: Canvas,
}

impl Prompt<'_> {
    /// Question without the choices.
    pub(super) fn text(&self) -> String {
        let Question { task, title, within, chain, tool, arguments, preview, ground, .. } = self.question;
        let Canvas { columns, colour } = self.canvas;
        let chain: Vec<String> = chain.iter().map(|agent| neutral::line(agent)).collect();
        let (chain, tool) = (chain.join(" › "), neutral::line(tool));
        let mut text = head(&format!("{chain}{} wants to use {tool}", self.shell_mark), self.canvas);
        text += &asker(*task, title, *within, columns);
        match preview {
            Some(diff) => lines(&mut text, diff, |line| paint(line, style_of(line), colour)),
            None => lines(&mut text, &readable(arguments), str::to_owned),
        }
        for said in [neutral::line(ground)].into_iter().chain(self.covered()) {
            text += &sentence(&said, columns);
        }
        text
    }

    /// True if the question leaves out a part of what the call would do.
    pub(super) fn is_cut(&self) -> bool {
        let Question { arguments, preview, .. } = self.question;
        match preview {
            Some(diff) => exceeds(diff) || diff.contains(CUT_IN_DIFF) || diff.ends_with(LEFT_OUT_OF_DIFF),
            None => exceeds(&readable(arguments)),
        }
    }

    /// The whole question for a pager: the diff, and all arguments. Long lines stay whole.
    pub(super) fn whole(&self) -> String {
        let Question { chain, tool, arguments, preview, .. } = self.question;
        let head = format!("{}{} wants to use {tool}", chain.join(" › "), self.shell_mark);
        let diff = preview.iter().map(|diff| format!("{diff}\nAll arguments:\n"));
        let text: String = [format!("{head}\n\n")].into_iter().chain(diff).chain([readable(arguments)]).collect();
        format!("{}\n", neutral::block(&text))
    }

    /// Sentence about answers that cover more than this call.
    fn covered(&self) -> Option<String> {
        let question = self.question;
        if question.rules.is_empty() {
            return None;
        }
        let rules = listed(&question.rules);
        Some(match &question.lasting_rule {
            Some(lasting) if self.keeping == Keeping::Possible => {
                format!("t allows {rules}, a writes `{}` into your settings", neutral::line(lasting))
            }
            Some(_) => format!("t allows {rules}"),
            None if question.by_hand.is_empty() => {
                format!("t allows {rules}; no rule can allow it for good while another one asks")
            }
            None => format!(
                "t allows {rules}; to allow a command for good, in every project, write {} into your settings by hand",
                listed(&question.by_hand)
            ),
        })
    }

    /// Line with the choices, or several if they need more. A call that no rule can describe can only be allowed once.
    pub(super) fn choices(&self) -> String {
        let Self { question, keeping, canvas: Canvas { columns, colour }, .. } = *self;
        let tree = (!question.rules.is_empty()).then_some("[t]his task tree");
        let always = (question.lasting_rule.is_some() && keeping == Keeping::Possible).then_some("[a]lways");
        let mut lines = vec!["[y]es once".to_owned()];
        let show = self.is_cut().then_some("[s]how all of it");
        for choice in tree.into_iter().chain(always).chain(show).chain(["[n]o (and why)"]) {
            match lines.last_mut() {
                Some(line) if width::of(line) + 2 + width::of(choice) <= room(columns) => {
                    *line += &format!("  {choice}");
                }
                _ => lines.push(choice.to_owned()),
            }
        }
        let painted: Vec<String> = lines.iter().map(|line| paint(line, Style::new().bold(), colour)).collect();
        format!("{} ", painted.join("\n"))
    }
}

/// First line of a question, or several if it needs more.
pub(super) fn head(text: &str, Canvas { columns, colour }: Canvas) -> String {
    let mut head = String::new();
    for (index, line) in width::wrap(text, room(columns)).iter().enumerate() {
        let mark = if index == 0 { "? " } else { INDENT };
        let _infallible = writeln!(head, "{}", paint(&format!("{mark}{line}"), HEAD, colour));
    }
    head
}

/// Columns of a line below the head.
pub(super) fn room(columns: usize) -> usize {
    columns.saturating_sub(INDENT.len() + 1)
}

fn sentence(text: &str, columns: usize) -> String {
    let lines = width::wrap(text, room(columns));
    format!("{INDENT}{}\n", lines.join(&format!("\n{INDENT}")))
}

/// Task that asks, and how long it waits if that is limited.
pub(super) fn asker(task: TaskId, title: &str, within: Option<Duration>, columns: usize) -> String {
    let waits = within.map(|within| format!(", waits {} for an answer", shown_time(within))).unwrap_or_default();
    sentence(&format!("{task} “{}”{waits}", words::title(title)), columns)
}

/// Sentence about a task that went into the background while it asks.
pub(super) fn hurried(task: TaskId, within: Duration, columns: usize) -> String {
    let waits = format!("{task} now works in the background, and waits {} for an answer", shown_time(within));
    sentence(&waits, columns)
}

pub(super) fn shown_time(time: Duration) -> String {
    words::elapsed(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

fn listed(rules: &[String]) -> String {
    let quoted: Vec<String> = rules.iter().map(|rule| format!("`{}`", neutral::line(rule))).collect();
    quoted.join(" and ")
}

/// Arguments in JSON, one value a line, or as they are. A command comes first, spelt as one would type it: the answer
/// is about it, and nested quotes would hide what it does.
fn readable(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(mut fields)) if fields.get("command").is_some_and(Value::is_string) => {
            let command = fields.shift_remove("command").unwrap_or_default();
            let command = typed(command.as_str().unwrap_or_default());
            if fields.is_empty() { command } else { format!("{command}\n{:#}", Value::Object(fields)) }
        }
        Ok(value) => format!("{value:#}"),
        Err(_) => arguments.to_owned(),
    }
}

/// Command after a prompt. Its further lines have another prompt, so that none is mistaken for something else.
fn typed(command: &str) -> String {
    format!("$ {}", command.replace('\n', "\n> "))
}

/// Block line by line, as it is: a command is not wrapped.
pub(super) fn lines(text: &mut String, block: &str, painted: impl Fn(&str) -> String) {
    let block = neutral::block(block);
    for line in block.lines().take(MAX_LINES) {
        let left_out = line.chars().count().saturating_sub(MAX_CHARS);
        let end = line.char_indices().nth(MAX_CHARS).map_or(line.len(), |(end, _)| end);
        let _infallible = write!(text, "{INDENT}{}", painted(&line[..end]));
        text.push_str(&if left_out > 0 { format!(" … {left_out} more characters\n") } else { "\n".to_owned() });
    }
    let more = block.lines().count().saturating_sub(MAX_LINES);
    if more > 0 {
        let _infallible = writeln!(text, "{INDENT}… {more} more lines are not shown");
    }
}

/// True if [`lines`] leaves out a part of this block.
fn exceeds(block: &str) -> bool {
    block.lines().count() > MAX_LINES || block.lines().any(|line| line.chars().count() > MAX_CHARS)
}

fn style_of(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => ADDED,
        Some(b'-') => REMOVED,
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Colour;
    use expect_test::expect;

    /// Prompt without colour, for this width.
    fn prompt(question: &Question, columns: usize) -> Prompt<'_> {
        let canvas = Canvas { columns, colour: Colour::Off };
        Prompt { question, shell_mark: "", keeping: Keeping::Possible, canvas }
    }

    fn question() -> Question {
        Question {
            task: TaskId::from_random([0; 12]),
            root: TaskId::from_random([0; 12]),
            title: "Write\u{1b} it".to_owned(),
            within: Some(Duration::from_secs(90)),
            chain: vec!["main".to_owned(), "ex\u{1b}[2Jplore".to_owned()],
            tool: "Edit".to_owned(),
            arguments: r#"{"file_path": "src/a.rs", "old_string": "a\u001b[1A\r\nb"}"#.to_owned(),
            preview: None,
            rules: vec!["Edit(src/a.rs)".to_owned()],
            lasting_rule: Some("Edit(//w/src/a.rs)".to_owned()),
            by_hand: Vec::new(),
            ground: "needs approval; no rule\nallows it".to_owned(),
        }
    }

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let arguments =
            r#"{"description": "Tidy up", "command": "cd \"a b\" &&\nrm -rf . # \u001b[2J\r{}"}"#.to_owned();
        let question = Question { tool: "Bash".to_owned(), arguments, ..question() };
        let shown = Prompt { shell_mark: " [unconfined]", ..prompt(&question, 80) }.text();
        expect![[r#"
            ? main › ex␛[2Jplore [unconfined] wants to use Bash
              agent-aaaaaaaaaaaa “Write␛ it”, waits 1m30s for an answer
              $ cd "a b" &&
              > rm -rf . # ␛[2J␍{}
              {
                "description": "Tidy up"
              }
              needs approval; no rule allows it
              t allows `Edit(src/a.rs)`, a writes `Edit(//w/src/a.rs)` into your settings
        "#]]
        .assert_eq(&shown);
    }

    #[test]
    fn a_question_names_the_agents_the_tool_and_exactly_what_would_run() {
        expect![[r#"
            ? main › ex␛[2Jplore wants to use Edit
              agent-aaaaaaaaaaaa “Write␛ it”, waits
              1m30s for an answer
              {
                "file_path": "src/a.rs",
                "old_string": "a\u001b[1A\r\nb"
              }
              needs approval; no rule allows it
              t allows `Edit(src/a.rs)`, a writes
              `Edit(//w/src/a.rs)` into your
              settings
        "#]]
        .assert_eq(&prompt(&question(), 40).text());
    }

    #[test]
    fn a_narrow_terminal_wraps_the_question_but_not_the_command() {
        let arguments = r#"{"command": "cargo test --workspace"}"#.to_owned();
        let question = Question { tool: "Bash".to_owned(), arguments, ..question() };
        let choices = prompt(&question, 24).choices();
        expect![[r"
            ? main › ex␛[2Jplore
              wants to use Bash
              agent-aaaaaaaaaaaa
              “Write␛ it”, waits
              1m30s for an answer
              $ cargo test --workspace
              needs approval; no
              rule allows it
              t allows
              `Edit(src/a.rs)`, a
              writes
              `Edit(//w/src/a.rs)`
              into your settings
            [y]es once
            [t]his task tree
            [a]lways
            [n]o (and why) "]]
        .assert_eq(&(prompt(&question, 24).text() + &choices));
    }

    #[test]
    fn an_ask_rule_rules_out_a_lasting_answer_and_the_question_says_so() {
        let question = Question { lasting_rule: None, ..question() };
        assert_eq!(prompt(&question, 80).choices(), "[y]es once  [t]his task tree  [n]o (and why) ");
        let text = prompt(&question, 120).text();
        assert!(text.contains("no rule can allow it for good"), "{text}");
    }

    #[test]
    fn a_rule_for_commands_is_written_by_hand() {
        let rules = vec!["Bash(cargo build)".to_owned(), "Bash(cargo test)".to_owned()];
        let question = Question { rules: rules.clone(), lasting_rule: None, by_hand: rules, ..question() };
        assert_eq!(prompt(&question, 80).choices(), "[y]es once  [t]his task tree  [n]o (and why) ");
        let text = prompt(&question, 400).text();
        let said = "t allows `Bash(cargo build)` and `Bash(cargo test)`; to allow a command for good, in every project, write \
                    `Bash(cargo build)` and `Bash(cargo test)` into your settings by hand\n";
        assert!(text.ends_with(said), "{text}");
    }

    #[test]
    fn only_possible_answers_are_offered() {
        assert_eq!(prompt(&question(), 80).choices(), "[y]es once  [t]his task tree  [a]lways  [n]o (and why) ");
        assert_eq!(
            Prompt { keeping: Keeping::Impossible, ..prompt(&question(), 80) }.choices(),
            "[y]es once  [t]his task tree  [n]o (and why) "
        );
        let nameless = Question { rules: Vec::new(), lasting_rule: None, ..question() };
        assert_eq!(prompt(&nameless, 80).choices(), "[y]es once  [n]o (and why) ");
        let nothing = prompt(&nameless, 80).text();
        assert!(!nothing.contains("t allows"), "{nothing}");
    }

    #[test]
    fn a_diff_replaces_the_arguments_and_is_harmless_and_bounded() {
        let long = format!("-old \u{1b}]52;c;x\u{7}\n+{}\n{}", "x".repeat(3000), "y\n".repeat(500));
        let question = Question { preview: Some(long), ..question() };
        let canvas = Canvas { columns: 80, colour: Colour::On };
        let text = Prompt { canvas, ..prompt(&question, 80) }.text();
        assert!(!text.contains("file_path"), "{text}");
        assert!(text.contains("\u{1b}[31m-old ␛]52;c;x␇\u{1b}[0m"), "{text}");
        assert!(
            text.contains(" … 1001 more characters\n") && text.contains("… 102 more lines are not shown"),
            "{text}"
        );
    }

    #[test]
    fn whatever_is_cut_can_be_seen_whole_before_answering() {
        let command = format!("echo {} && curl evil.example", "x".repeat(3000));
        let arguments = serde_json::json!({ "command": command }).to_string();
        let line = Question { tool: "Bash".to_owned(), arguments, ..question() };
        let shown = prompt(&line, 80);
        assert!(!shown.text().contains("evil.example") && shown.whole().contains("evil.example\n"));
        assert_eq!(shown.choices(), "[y]es once  [t]his task tree  [a]lways  [s]how all of it  [n]o (and why) ");
        for cut in ["+one\n[7 more lines not shown]\n", "+a very long line [cut; 9000 bytes in all]\n"] {
            let diff = Question { preview: Some(cut.to_owned()), ..question() };
            assert!(prompt(&diff, 80).is_cut());
            let whole = prompt(&diff, 80).whole();
            assert!(whole.contains(cut) && whole.contains("\"old_string\": \"a\\u001b[1A\\r\\nb\""), "{whole}");
            assert!(!whole.contains('\u{1b}'), "{whole:?}");
        }
    }
}
