//! Loop guard: detects a task that repeats the same calls with the same outputs, turn after turn.
//!
//! It belongs to the conversation, so a task that resumes after a crash still has it. The caller decides what a loop
//! leads to.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use sortie_contract::substance;
use sortie_protocol::{CallOutput, ToolCall, ToolOutput};

/// Rounds of a loop before its model gets a reminder.
const TOLD_AFTER: usize = 3;

/// Limit on consecutive rounds in which no call waited.
const MOST_ROUNDS: usize = 5;

/// Limit on the rounds of any loop. A task may have to wait for something slow, and the reminder says how to do so in
/// fewer turns.
const MOST_WAITING_ROUNDS: usize = 20;

/// Longest loop that is detected, in turns.
const LONGEST: usize = 3;

/// Tools that check work in progress: checking again is not a repetition.
const LOOKS: [&str; 3] = ["BashOutput", "TaskList", "TaskOutput"];

/// The tools among them that check sub-agents.
const LOOKS_AT_SUB_AGENTS: [&str; 2] = ["TaskList", "TaskOutput"];

/// The last turns of one conversation since something new was said.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LoopGuard {
    /// Only as many as the guard compares.
    turns: VecDeque<Seen>,
    /// The newest turn only checked work in progress, and is not among them.
    has_looked: bool,
    /// Essences of outcomes that reports have brought in the meantime.
    told: HashSet<String>,
}

/// One turn: its calls and outputs.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Seen {
    hash: u64,
    /// The turn took its time. This is not part of the hash: a slow machine does not make the turn a different one.
    waited: bool,
    /// The turn started sub-agents, and did nothing else.
    only_delegates: bool,
}

/// Turns at the end of a conversation that repeat each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loop {
    /// Turns in one round.
    length: usize,
    /// All matching turns, including an unfinished round.
    turns: usize,
    /// Newest matching turns since the last turn that waited.
    quick: usize,
}

impl LoopGuard {
    /// Records a turn: its calls and their outputs.
    pub(crate) fn see<'a>(&mut self, calls: impl Iterator<Item = &'a ToolCall>, outputs: &[CallOutput]) {
        let mut hasher = DefaultHasher::new();
        let (mut looks, mut looks_elsewhere) = (false, false);
        for call in calls {
            looks |= LOOKS.contains(&call.tool.as_str());
            looks_elsewhere |= !LOOKS_AT_SUB_AGENTS.contains(&call.tool.as_str());
            (&call.tool, &call.arguments).hash(&mut hasher);
        }
        self.has_looked = looks;
        if looks {
            return self.look(outputs, !looks_elsewhere);
        }
        for output in outputs {
            hash(&output.output, &mut hasher);
        }
        let only_delegates = outputs.iter().all(|output| output.output.essence.is_some());
        let waited = outputs.iter().any(|output| output.output.waited);
        self.turns.push_back(Seen { hash: hasher.finish(), waited, only_delegates });
        if self.turns.len() > LONGEST * MOST_WAITING_ROUNDS {
            self.turns.pop_front();
        }
    }

    /// Records a turn that only checks for news. It is not a round, and afterwards the same calls may have other
    /// results. The loop continues only if the task did nothing but start sub-agents and check them.
    fn look(&mut self, outputs: &[CallOutput], at_sub_agents: bool) {
        if !at_sub_agents || !self.turns.iter().all(|turn| turn.only_delegates) {
            self.turns.clear();
        }
        for output in outputs {
            self.hear(&output.output.mail.essences);
        }
    }

    /// Records the essences of reports. Only an essence not seen before counts as news.
    pub(crate) fn hear(&mut self, essences: &[String]) {
        for essence in essences {
            if self.told.insert(essence.clone()) {
                self.turns.clear();
            }
        }
    }

    /// Forgets all turns, because something new was said and the same calls may now have other results.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Returns the reminder due after the newest turn.
    pub(crate) fn reminder(&self) -> Option<String> {
        self.current_loop().filter(|_| !self.has_looked)?.reminder()
    }

    /// Returns the shortest loop that the last turns form.
    pub(crate) fn current_loop(&self) -> Option<Loop> {
        let newest = |length: usize| {
            let later = self.turns.iter().rev();
            let pairs = later.clone().skip(length).zip(later.clone());
            let turns = pairs.take_while(|(earlier, later)| earlier.hash == later.hash).count() + length;
            Loop { length, turns, quick: later.take(turns).take_while(|turn| !turn.waited).count() }
        };
        (1..=LONGEST).map(newest).find(|found| found.turns >= 2 * found.length)
    }
}

impl Loop {
    /// Returns a reminder if the loop has just reached the limit for one.
    fn reminder(self) -> Option<String> {
        if self.turns != TOLD_AFTER * self.length {
            return None;
        }
        let what = match self.length {
            1 => "You have made the same call".to_owned(),
            turns => format!("You have gone through the same {turns} turns"),
        };
        let advice = if self.quick < self.turns {
            "If you are waiting for something, let one call wait for longer. If not, doing it once more will bring nothing new:"
        } else {
            "Doing it once more will bring nothing new:"
        };
        Some(format!(
            "{what} {TOLD_AFTER} times, with the same outcome each time. {advice} do something else, or finish with what you \
             have found."
        ))
    }

    /// True if it has lasted too long.
    pub(crate) fn is_too_long(self) -> bool {
        self.quick >= MOST_ROUNDS * self.length || self.turns >= MOST_WAITING_ROUNDS * self.length
    }
}

/// Hashes the relevant part of an output; for a delegation, the essence of its outcome.
fn hash(output: &ToolOutput, hasher: &mut impl Hasher) {
    let text = output.for_model.as_str();
    let words = match &output.essence {
        Some(essence) => (essence.as_str(), ""),
        None if output.verbatim => substance(text),
        None => (text, ""),
    };
    (output.failed, words).hash(hasher);
    output.attachments.iter().for_each(|attachment| attachment.data.hash(hasher));
}

#[cfg(test)]
mod tests {
    use sortie_protocol::MailMark;

    use super::*;

    /// Arguments that begin with a tool's name are for that tool, others for `Bash`. An output in brackets is a
    /// sub-agent's result, after an id. A leading `>` means that the call waited, and is not part of the output.
    fn turn(repeats: &mut LoopGuard, calls: &[(&str, &str)]) {
        let call = |(arguments, _): &(&str, &str)| {
            let named = ["BashOutput", "TaskOutput", "Task"].into_iter().find(|tool| arguments.starts_with(tool));
            ToolCall { id: "1".into(), tool: named.unwrap_or("Bash").to_owned(), arguments: (*arguments).to_owned() }
        };
        let output = |(arguments, marked): &(&str, &str)| {
            let text = marked.trim_start_matches('>');
            let essence = text.split_once('[').map(|(_, essence)| essence.to_owned());
            let looks = arguments.starts_with("TaskOutput");
            let (essence, essences) = if looks { (None, essence.into_iter().collect()) } else { (essence, Vec::new()) };
            let output = ToolOutput {
                verbatim: text.starts_with('{'),
                waited: marked.starts_with('>'),
                essence,
                mail: MailMark { essences, ..MailMark::default() },
                ..ToolOutput::done(text, "")
            };
            CallOutput { call: "1".into(), output }
        };
        let (calls, outputs): (Vec<_>, Vec<_>) = calls.iter().map(|both| (call(both), output(both))).unzip();
        repeats.see(calls.iter(), &outputs);
    }

    /// Result of turns with one call each: `.` is nothing, `t` a reminder, `!` too many rounds.
    fn seen(turns: &[(&str, &str)]) -> String {
        let mut repeats = LoopGuard::default();
        let mut see = |called: &(&str, &str)| {
            turn(&mut repeats, &[*called]);
            match repeats.current_loop() {
                Some(found) if found.is_too_long() => '!',
                Some(_) if repeats.reminder().is_some() => 't',
                _ => '.',
            }
        };
        turns.iter().map(&mut see).collect()
    }

    /// Calls by their letters, each always with the same output.
    fn letters(calls: &str) -> String {
        let calls: Vec<String> = calls.chars().map(String::from).collect();
        seen(&calls.iter().map(|call| (call.as_str(), "same")).collect::<Vec<_>>())
    }

    #[test]
    fn a_loop_is_reported_in_its_third_round_and_ends_in_its_fifth() {
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
    fn the_same_call_with_another_output_is_not_a_loop() {
        assert_eq!(seen(&[("a", "1"), ("a", "2"), ("a", "3"), ("a", "4"), ("a", "5"), ("a", "6")]), "......");
        assert_eq!(seen(&[("a", "1"), ("a", "1"), ("a", "2"), ("a", "2"), ("a", "2")]), "....t");
    }

    #[test]
    fn checking_again_is_not_a_loop() {
        assert_eq!(seen(&[("BashOutput 1", "no new output"); 30]), ".".repeat(30));
    }

    #[test]
    fn a_waiting_loop_is_reported_as_early_and_ends_in_its_twentieth_round() {
        let expected = |told: usize, most: usize| format!("{:.>told$}{:.>more$}", 't', '!', more = most - told);
        let wait = ("gh run watch", ">pending");
        assert_eq!(seen(&[wait; 20]), expected(3, 20));
        assert_eq!(seen(&[[("a", "same"), wait]; 20].concat()), expected(6, 40));
        assert_eq!(seen(&[[("a", "same"), ("b", "same"), wait]; 20].concat()), expected(9, 60));
    }

    #[test]
    fn waiting_for_something_else_in_between_is_not_a_loop() {
        assert_eq!(
            seen(&[("a", "same"), ("a", "same"), ("b", ">1"), ("a", "same"), ("a", "same"), ("b", ">2")]),
            "......"
        );
    }

    #[test]
    fn a_command_of_varying_duration_is_the_same_command() {
        let (quick, slow) = (("make", "failed"), ("make", ">failed"));
        assert_eq!(seen(&[quick, slow, quick, quick, quick, quick, quick]), "..t...!", "five in a row did not wait");
        assert_eq!(seen(&[quick, quick, quick, quick, slow, quick]), "..t...");
    }

    #[test]
    fn a_waiting_task_is_told_how_to_wait() {
        let told = |output: &str| {
            let mut repeats = LoopGuard::default();
            (0..TOLD_AFTER).for_each(|_| turn(&mut repeats, &[("a", output)]));
            repeats.reminder().expect("a loop")
        };
        assert!(told(">same").contains("let one call wait for longer"));
        assert!(!told("same").contains("wait"));
    }

    #[test]
    fn a_quick_command_does_not_count_as_waiting_whatever_its_name() {
        assert_eq!(seen(&[("grep -n sleep f", "f:3: sleep 60"); 5]), "..t.!");
    }

    #[test]
    fn a_delegation_counts_by_its_outcome() {
        let (one, two) = (("Task x", "agent-a 1.2 s [done"), ("Task x", "agent-b 0.7 s [done"));
        assert_eq!(seen(&[one, two, one, two, one]), "..t.!");
        assert_eq!(seen(&[one, two, ("Task x", "agent-c 0.7 s [failed"), one, two]), ".....");
        assert_eq!(seen(&[one, two, ("Task y", "agent-c 0.7 s [done"), one, two]), ".....");
    }

    #[test]
    fn checking_a_delegation_does_not_make_it_new() {
        let (start, look, done) =
            (("Task x", "agent-a [launched"), ("TaskOutput a", "works"), ("TaskOutput a", "[same"));
        let round = [start, look, done];
        assert_eq!(seen(&[round; 6].concat()), ".........t.....!!!");
        assert_eq!(seen(&[[start, look, ("b", "same")]; 5].concat()), "...............");
        assert_eq!(seen(&[[start, ("sleep 60", ">"), done]; 5].concat()), "...............", "it asks again later");
    }

    #[test]
    fn a_report_without_news_does_not_restart_the_count() {
        let rounds = |reports: [&str; 6]| -> String {
            let mut repeats = LoopGuard::default();
            let mut round = |report: &str| {
                turn(&mut repeats, &[("Task x", "agent-a [launched")]);
                let is_told = repeats.reminder().is_some();
                repeats.hear(&[report.to_owned()]);
                if is_told { 't' } else { '.' }
            };
            reports.map(&mut round).into_iter().collect()
        };
        assert_eq!(rounds(["same"; 6]), "...t..");
        assert_eq!(rounds(["1", "2", "3", "4", "5", "6"]), "......");
        assert_eq!(rounds(["1", "2", "1", "2", "1", "2"]), "....t.");
    }

    #[test]
    fn the_duration_of_a_call_is_not_part_of_its_output() {
        let output = |time: u32| format!(r#"{{"data":{{"n":1}},"stats":{{"time_ms":{time}}},"status":"success"}}"#);
        let outputs: Vec<String> = (1..=5).map(output).collect();
        assert_eq!(seen(&outputs.iter().map(|output| ("a", output.as_str())).collect::<Vec<_>>()), "..t.!");
    }

    #[test]
    fn all_calls_of_a_turn_count_together() {
        let mut repeats = LoopGuard::default();
        turn(&mut repeats, &[("a", "same"); 6]);
        assert_eq!(repeats.current_loop(), None, "it has seen none of the outputs yet");
        for other in ["1", "2", "3"] {
            turn(&mut repeats, &[("a", "same"), ("b", other)]);
        }
        assert_eq!(repeats.current_loop(), None);
    }

    #[test]
    fn a_message_in_between_restarts_the_count() {
        let mut repeats = LoopGuard::default();
        for _ in 0..4 {
            turn(&mut repeats, &[("a", "same")]);
        }
        repeats.forget();
        turn(&mut repeats, &[("a", "same")]);
        assert_eq!(repeats.current_loop(), None);
    }
}
