//! An agent's own question to the person, and the answer in the person's words.

use sortie_engine::Inquiry;

use super::Canvas;
use super::question::{asker, head, lines, room, shown_time};
use crate::text::{neutral, width};

/// Last character of a line that continues.
const GOES_ON: char = '\\';

const PROMPT: &str = "answer (end a line with \\ to write another one; Ctrl-D: no answer)";
/// Prompt of a continued answer.
pub(super) const PROMPT_AGAIN: &str = "  … ";

/// Prompt of an answer.
pub(super) fn prompt(columns: usize) -> String {
    format!("  {} ", width::wrap(PROMPT, room(columns)).join("\n  "))
}

/// Question, with the agent that asks.
pub(super) fn shown(inquiry: &Inquiry<'_>, canvas: Canvas) -> String {
    let columns = canvas.columns;
    let Inquiry { task, title, chain, question, within, .. } = *inquiry;
    let chain: Vec<String> = chain.iter().map(|agent| neutral::line(agent)).collect();
    let mut text = head(&format!("{} asks", chain.join(" › ")), canvas);
    text += &asker(task, title, Some(within), columns);
    lines(&mut text, question, |line| width::wrap_line(line, room(columns)).join("\n  "));
    text
}

/// Advice after a question that was not answered here.
pub(super) fn left_open(Inquiry { task, within, .. }: &Inquiry<'_>) -> String {
    format!("{task} waits for an answer for {} in all: sortie tasks send {task} \"…\"", shown_time(*within))
}

/// Answer, line by line.
#[derive(Debug, Default)]
pub(super) struct Answer {
    lines: Vec<String>,
}

impl Answer {
    /// Takes typed text, and returns the whole answer if it is complete. An empty answer is none.
    pub(super) fn take(&mut self, typed: &str) -> Option<String> {
        let typed = typed.trim_end_matches(['\n', '\r']);
        let going_on = typed.strip_suffix(GOES_ON);
        self.lines.push(going_on.unwrap_or(typed).to_owned());
        if going_on.is_some() {
            return None;
        }
        let answer = std::mem::take(&mut self.lines).join("\n");
        Some(answer.trim().to_owned()).filter(|answer| !answer.is_empty())
    }

    /// True if an answer has begun and continues.
    pub(super) fn is_begun(&self) -> bool {
        !self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;
    use std::time::Duration;

    use sortie_protocol::TaskId;

    use super::*;
    use crate::text::Colour;

    #[test]
    fn a_line_is_an_answer_unless_it_continues_or_is_empty() {
        let mut answer = Answer::default();
        assert_eq!(answer.take("the second one\n"), Some("the second one".to_owned()));
        assert_eq!((answer.take("first \\\n"), answer.is_begun()), (None, true));
        assert_eq!(answer.take("second\r\n"), Some("first \nsecond".to_owned()));
        assert_eq!((answer.take("  \n"), answer.is_begun()), (None, false));
        // Lines that arrive together are one answer.
        assert_eq!(answer.take("a\nb\n"), Some("a\nb".to_owned()));
    }

    #[test]
    fn the_prompt_is_broken_between_words_and_ends_where_one_types() {
        assert_eq!(prompt(80), "  answer (end a line with \\ to write another one; Ctrl-D: no answer) ");
        assert_eq!(prompt(38), "  answer (end a line with \\ to write\n  another one; Ctrl-D: no answer) ");
    }

    #[test]
    fn a_question_names_its_agent_and_cannot_move_the_cursor() {
        let chain = ["main".to_owned(), "explore".to_owned()];
        let inquiry = Inquiry {
            task: TaskId::from_random([0; 12]),
            title: "Fi\u{1b}nd it",
            chain: &chain,
            question: "Which?\n\u{1b}[2J1. or 2.",
            within: Duration::from_mins(5),
            answered: &OnceLock::new(),
        };
        let asker = "  agent-aaaaaaaaaaaa “Fi␛nd it”, waits 5m00s for an answer\n";
        assert_eq!(
            shown(&inquiry, Canvas { columns: 80, colour: Colour::Off }),
            format!("? main › explore asks\n{asker}  Which?\n  ␛[2J1. or 2.\n")
        );
        let narrow = "? main › explore asks\n  agent-aaaaaaaaaaaa\n  “Fi␛nd it”, waits\n  5m00s for an answer\n";
        assert_eq!(
            shown(&inquiry, Canvas { columns: 24, colour: Colour::Off }),
            format!("{narrow}  Which?\n  ␛[2J1. or 2.\n")
        );
        let open =
            "agent-aaaaaaaaaaaa waits for an answer for 5m00s in all: sortie tasks send agent-aaaaaaaaaaaa \"…\"";
        assert_eq!(left_open(&inquiry), open);
    }
}
