//! Whether a task goes round in circles: the same calls with the same outputs, turn after turn.
//!
//! Pure. It belongs to the conversation, which is made of the same pieces live and in replay, so a task that goes on after a
//! crash has it as it was. What becomes of a circle is the loop's business.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use sortie_contract::substance;
use sortie_protocol::{CallOutput, ToolCall};

/// Rounds of a circle after which its model is told.
const TOLD_AFTER: usize = 3;

/// Rounds of a circle that are too many.
const MOST_ROUNDS: usize = 5;

/// Turns of the longest circle that is noticed.
const LONGEST: usize = 3;

/// Tools that look at what goes on by itself: who looks again does not repeat itself.
const LOOKS: [&str; 3] = ["BashOutput", "TaskList", "TaskOutput"];

/// The last turns of one conversation, as far as nobody has said anything in between.
#[derive(Debug, Clone, Default)]
pub(crate) struct Repeats {
    /// What was called and came out, turn by turn. No more of them than are looked at.
    turns: VecDeque<u64>,
}

/// Turns at the end of a conversation that repeat each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Circle {
    /// Turns of one round.
    length: usize,
    /// All turns that fit, those of a round that is not whole included.
    turns: usize,
}

impl Repeats {
    /// Takes in a turn: its calls, and their outputs.
    pub(crate) fn see<'a>(&mut self, calls: impl Iterator<Item = &'a ToolCall>, outputs: &[CallOutput]) {
        let mut hasher = DefaultHasher::new();
        for call in calls {
            if waits(call) {
                return self.forget();
            }
            (&call.tool, &call.arguments).hash(&mut hasher);
        }
        for CallOutput { output, .. } in outputs {
            let text = output.for_model.as_str();
            (output.failed, if output.verbatim { substance(text) } else { (text, "") }).hash(&mut hasher);
            output.attachments.iter().for_each(|attachment| attachment.data.hash(&mut hasher));
        }
        self.turns.push_back(hasher.finish());
        if self.turns.len() > LONGEST * MOST_ROUNDS {
            self.turns.pop_front();
        }
    }

    /// Something new was said: what the same calls bring from here on is another matter.
    pub(crate) fn forget(&mut self) {
        self.turns.clear();
    }

    /// The shortest circle that the last turns go round in.
    pub(crate) fn circle(&self) -> Option<Circle> {
        let newest = |length: usize| {
            let later = self.turns.iter().rev();
            let same = later.clone().skip(length).zip(later).take_while(|(earlier, later)| earlier == later);
            Circle { length, turns: same.count() + length }
        };
        (1..=LONGEST).map(newest).find(|circle| circle.turns >= 2 * circle.length)
    }
}

impl Circle {
    /// What its model is to be told now, if anything.
    pub(crate) fn reminder(self) -> Option<String> {
        if self.turns != TOLD_AFTER * self.length {
            return None;
        }
        let what = match self.length {
            1 => "You have made the same call".to_owned(),
            turns => format!("You have gone through the same {turns} turns"),
        };
        Some(format!(
            "{what} {TOLD_AFTER} times, with the same outcome each time. Doing it once more will bring nothing new: do \
             something else, or finish with what you have found."
        ))
    }

    /// Whether it has gone on for too long.
    pub(crate) fn is_too_long(self) -> bool {
        self.turns >= MOST_ROUNDS * self.length
    }
}

/// Whether a call is there to wait for something, or to see whether it has come.
fn waits(call: &ToolCall) -> bool {
    LOOKS.contains(&call.tool.as_str()) || (call.tool == "Bash" && call.arguments.contains("sleep"))
}

#[cfg(test)]
mod tests {
    use sortie_protocol::ToolOutput;

    use super::*;

    fn turn(repeats: &mut Repeats, calls: &[(&str, &str)]) {
        let call = |(arguments, _): &(&str, &str)| {
            let tool = if arguments.starts_with("bash-") { "BashOutput" } else { "Bash" };
            ToolCall { id: "1".into(), tool: tool.to_owned(), arguments: (*arguments).to_owned() }
        };
        let output = |(_, text): &(&str, &str)| {
            let output = ToolOutput { verbatim: text.starts_with('{'), ..ToolOutput::done(*text, "") };
            CallOutput { call: "1".into(), output }
        };
        let (calls, outputs): (Vec<_>, Vec<_>) = calls.iter().map(|both| (call(both), output(both))).unzip();
        repeats.see(calls.iter(), &outputs);
    }

    /// What comes of turns with one call each: `.` is nothing, `t` that the model is told, `!` that it is too much.
    fn seen(turns: &[(&str, &str)]) -> String {
        let mut repeats = Repeats::default();
        let mut see = |called: &(&str, &str)| {
            turn(&mut repeats, &[*called]);
            match repeats.circle() {
                Some(circle) if circle.is_too_long() => '!',
                Some(circle) if circle.reminder().is_some() => 't',
                _ => '.',
            }
        };
        turns.iter().map(&mut see).collect()
    }

    /// Calls by their letters, each of which always brings the same.
    fn letters(calls: &str) -> String {
        let calls: Vec<String> = calls.chars().map(String::from).collect();
        seen(&calls.iter().map(|call| (call.as_str(), "same")).collect::<Vec<_>>())
    }

    #[test]
    fn a_circle_is_named_in_its_third_round_and_too_long_in_its_fifth() {
        for (calls, expected) in [
            ("aaaaaaa", "..t.!!!"),
            ("abababababab", ".....t...!!!"),
            ("abcabcabcabcabc", "........t.....!"),
            ("aabaabaabaabaab", "........t.....!"),
            ("abcdabcdabcdabcdabcdabcd", "........................"),
            ("xyaaa", "....t"),
            ("aabaabb", "......."),
            ("aaabaaa", "..t...t"),
        ] {
            assert_eq!(letters(calls), expected, "{calls}");
        }
    }

    #[test]
    fn the_same_call_with_another_output_is_no_circle() {
        assert_eq!(seen(&[("a", "1"), ("a", "2"), ("a", "3"), ("a", "4"), ("a", "5"), ("a", "6")]), "......");
        assert_eq!(seen(&[("a", "1"), ("a", "1"), ("a", "2"), ("a", "2"), ("a", "2")]), "....t");
    }

    #[test]
    fn to_wait_and_to_look_again_is_no_circle() {
        assert_eq!(seen(&[("bash-1", "no new output"); 9]), ".........");
        assert_eq!(seen(&[(r#"{"command":"sleep 60; status"}"#, "pending"); 9]), ".........");
    }

    #[test]
    fn how_long_a_call_took_is_not_what_it_brought() {
        let output = |time: u32| format!(r#"{{"data":{{"n":1}},"stats":{{"time_ms":{time}}},"status":"success"}}"#);
        let outputs: Vec<String> = (1..=5).map(output).collect();
        assert_eq!(seen(&outputs.iter().map(|output| ("a", output.as_str())).collect::<Vec<_>>()), "..t.!");
    }

    #[test]
    fn all_calls_of_a_turn_count_together() {
        let mut repeats = Repeats::default();
        turn(&mut repeats, &[("a", "same"); 6]);
        assert_eq!(repeats.circle(), None, "it has seen none of the outputs yet");
        for other in ["1", "2", "3"] {
            turn(&mut repeats, &[("a", "same"), ("b", other)]);
        }
        assert_eq!(repeats.circle(), None);
    }

    #[test]
    fn what_is_said_in_between_begins_anew() {
        let mut repeats = Repeats::default();
        for _ in 0..4 {
            turn(&mut repeats, &[("a", "same")]);
        }
        repeats.forget();
        turn(&mut repeats, &[("a", "same")]);
        assert_eq!(repeats.circle(), None);
    }
}
