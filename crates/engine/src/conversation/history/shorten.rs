//! Shortening of a conversation, by the fact that lists the omissions. `run/compaction.rs` decides what they are.

use std::collections::HashMap;

use sortie_llm::estimate;
use sortie_protocol::{CallId, CallOutput, Compaction, Message, Stub, Summary};

use super::{History, is_answer};

impl History {
    /// Returns the start of the newest turns with at most this many tokens together. It is always a reply, and includes
    /// at least the newest turn.
    pub(crate) fn tail(&self, most: u64) -> usize {
        let (mut tokens, mut tail) = (0, None);
        for (at, message) in self.messages.iter().enumerate().rev() {
            tokens += estimate::message_tokens(message);
            if tail.is_some() && tokens > most {
                break;
            }
            if matches!(message, Message::Assistant { .. }) {
                tail = Some(at);
            }
        }
        tail.unwrap_or(self.messages.len().min(1))
    }

    /// Returns the tokens of the brief, which is never shortened; in a forked task, with those of the first message.
    pub(crate) fn brief_tokens(&self) -> u64 {
        let own = self.messages.get(self.brief).filter(|_| self.brief > 0);
        self.messages.first().into_iter().chain(own).map(estimate::message_tokens).sum()
    }

    /// Returns the tokens of the summary of older turns.
    pub(crate) fn summary_tokens(&self) -> u64 {
        self.messages.get(1).filter(|_| self.is_summed_up).map_or(0, estimate::message_tokens)
    }

    /// Returns the messages before the tail, followed by `said`.
    pub(crate) fn head(&self, tail: usize, said: &str) -> Self {
        let messages = [&self.messages[..tail], &[Message::user(said)]].concat();
        let tokens = messages.iter().map(estimate::message_tokens).sum();
        Self { messages, tokens, ..Self::default() }
    }

    /// Applies a compaction.
    pub(crate) fn shorten(&mut self, Compaction { stubs, summary }: &Compaction) {
        self.stub(stubs);
        if let Some(summary) = summary {
            self.sum_up(summary);
        }
        self.tokens = self.messages.iter().map(estimate::message_tokens).sum();
    }

    fn stub(&mut self, stubs: &[Stub]) {
        let stubs: HashMap<&CallId, &str> = stubs.iter().map(|stub| (&stub.call, stub.text.as_str())).collect();
        for message in &mut self.messages {
            let Message::Outputs { outputs } = message else { continue };
            for CallOutput { call, output } in outputs {
                if let Some(text) = stubs.get(call) {
                    (*text).clone_into(&mut output.for_model);
                    output.attachments.clear();
                }
            }
        }
    }

    fn sum_up(&mut self, Summary { messages: n_gone, text, .. }: &Summary) {
        let n_gone = (*n_gone).min(self.messages.len().saturating_sub(1));
        for at in 1..=n_gone {
            let (message, text) = (&self.messages[at], self.messages[at].assistant_text());
            if text.trim().is_empty() {
                continue;
            }
            if at >= self.answered && is_answer(message) {
                self.gone.answers.push(text.clone());
            }
            if at >= self.earlier {
                self.gone.last_text = Some(text);
            }
        }
        // A forked task keeps its own brief, whatever becomes of the conversation before it.
        let brief = (1..=n_gone).contains(&self.brief).then(|| self.messages[self.brief].clone());
        let n_kept = 1 + usize::from(brief.is_some());
        self.messages.splice(1..=n_gone, [Message::user(text)].into_iter().chain(brief));
        self.is_summed_up = true;
        // Neither the summary nor the brief is an answer, so either side of these bounds will do.
        let moved = |at: usize| if at > n_gone { at - n_gone + n_kept } else { at.min(1) };
        self.brief = if n_kept == 2 { 2 } else { moved(self.brief) };
        (self.earlier, self.answered) = (moved(self.earlier), moved(self.answered));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sortie_protocol::Part;

    fn history(replies: &[&str]) -> History {
        let mut history = History::default();
        history.push_user("The brief.");
        for reply in replies {
            history.push(Message::Assistant { parts: vec![Part::Text { text: (*reply).to_owned() }] });
            history.push_user("Go on.");
        }
        history
    }

    fn sum_up(history: &mut History, messages: usize) {
        let summary = Summary { messages, turns: messages / 2, text: "In short.".to_owned() };
        history.shorten(&Compaction { stubs: Vec::new(), summary: Some(summary) });
    }

    #[test]
    fn answers_stay_part_of_the_result_when_they_are_summarised() {
        let mut history = history(&["First.", "Second.", "Third."]);
        sum_up(&mut history, 4);
        assert_eq!(history.messages()[1], Message::user("In short."));
        assert_eq!((history.messages().len(), history.answers().as_str()), (4, "First.\n\nSecond.\n\nThird."));
        sum_up(&mut history, 3);
        assert_eq!((history.messages().len(), history.last_text().as_str()), (2, "First.\n\nSecond.\n\nThird."));
    }

    #[test]
    fn answers_of_an_earlier_leg_do_not_come_back() {
        let mut history = history(&["First."]);
        history.begin_leg();
        history.push(Message::Assistant { parts: vec![Part::Text { text: "Second.".to_owned() }] });
        history.push_user("Go on.");
        sum_up(&mut history, 2);
        assert_eq!(history.answers(), "Second.");
        sum_up(&mut history, 3);
        assert_eq!(history.answers(), "Second.");
        history.begin_leg();
        assert_eq!((history.answers(), history.last_text()), (String::new(), String::new()));
    }

    #[test]
    fn the_tail_begins_with_a_reply_and_always_has_the_newest_turn() {
        let history = history(&["First.", "Second.", "Third."]);
        let tokens = |from: usize| history.messages()[from..].iter().map(estimate::message_tokens).sum::<u64>();
        assert_eq!([0, tokens(5), tokens(3), tokens(3) - 1, tokens(0)].map(|most| history.tail(most)), [5, 5, 3, 5, 1]);
    }
}
