//! Working time of a task over all its legs and processes. Time in which no process ran it does not count.
//!
//! Derived only from the times of its events. Nobody knows how long a process lived after its last event. A bounded
//! part of that time counts as work, both in reports and against limits.

use std::time::Duration;

use sortie_protocol::{Fact, Timestamp};

/// Cap on the time counted as work between the last event of a dead process and the takeover. The process may have
/// worked that long, and repeated kills must not grant extra time. More would charge a task for idle time.
const MOST_UNSEEN: Duration = Duration::from_mins(1);

/// The working time of one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worked {
    /// Time in earlier processes, and in ended legs.
    pub(crate) before: Duration,
    /// When the latest process started working.
    pub(crate) admitted: Option<Timestamp>,
    pub(crate) last_heard: Timestamp,
}

impl Worked {
    /// A task started at this time.
    pub fn begin(time: Timestamp) -> Self {
        Self { before: Duration::ZERO, admitted: None, last_heard: time }
    }

    /// Adds the next event.
    pub fn hear(&mut self, fact: &Fact, time: Timestamp) {
        match fact {
            Fact::TaskResumed { .. } => self.take_over(time),
            Fact::TaskAdmitted => self.admitted = Some(time),
            // Another process may add it to the log of an idle task, long after.
            Fact::ChildEnded { .. } => return,
            _ => {}
        }
        self.last_heard = time;
        if let Fact::TaskEnded { outcome } = fact {
            // The reported time is the one that counts.
            (self.before, self.admitted) = (Duration::from_millis(outcome.usage.duration_ms), None);
        }
    }

    /// Records a resume: counts the time that the previous process may have worked.
    pub fn take_over(&mut self, now: Timestamp) {
        (self.before, self.admitted) = (self.before + self.possibly_in_last_process(now), None);
    }

    /// Time of the last event.
    pub fn last_heard(&self) -> Timestamp {
        self.last_heard
    }

    /// Working time known for certain.
    pub fn known(&self) -> Duration {
        self.before + self.until(self.last_heard)
    }

    /// Working time up to `now` if a process runs the task.
    pub fn so_far(&self, now: Timestamp) -> Duration {
        self.before + self.until(now)
    }

    /// Time that the previous process may have worked. Clocks may have been set back, but time is never granted twice.
    pub fn possibly_in_last_process(&self, now: Timestamp) -> Duration {
        let unseen = self.admitted.map_or(Duration::ZERO, |_| since(self.last_heard, now).min(MOST_UNSEEN));
        self.until(self.last_heard) + unseen
    }

    fn until(&self, time: Timestamp) -> Duration {
        self.admitted.map_or(Duration::ZERO, |admitted| since(admitted, time))
    }
}

fn since(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::from_millis(later.0.saturating_sub(earlier.0))
}

#[cfg(test)]
mod tests {
    use sortie_protocol::{CallId, TaskId, Usage};

    use super::*;

    fn fact(fact: serde_json::Value) -> Fact {
        serde_json::from_value(fact).unwrap()
    }

    fn resumed() -> Fact {
        fact(serde_json::json!({"type": "task_resumed", "notices": [], "config": {
            "agent": "a", "model": {"route": "r", "id": "m"}, "system": "", "tools": [], "grant": [], "limits": {},
            "depth": 0, "chain": ["a"]
        }}))
    }

    fn ended(after: Duration) -> Fact {
        fact(serde_json::json!({"type": "task_ended", "outcome": {
            "task_id": "agent-aaaaaaaaaaaa", "agent": "a", "status": "completed", "text": "",
            "model": {"route": "r", "id": "m"}, "usage": Usage {
                duration_ms: after.as_millis() as u64,
                ..Usage::default()
            }
        }}))
    }

    fn heard(worked: &mut Worked, fact: &Fact, secs: u64) {
        worked.hear(fact, Timestamp(secs * 1_000));
    }

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn work_is_counted_over_processes_without_waiting_and_idle_time() {
        let mut worked = Worked::begin(Timestamp(0));
        assert_eq!(worked.possibly_in_last_process(Timestamp(9_000)), Duration::ZERO, "it has not begun");
        heard(&mut worked, &Fact::TaskAdmitted, 5);
        heard(
            &mut worked,
            &Fact::ModelCalled { turn: 1, input_tokens: 0, reserved: sortie_protocol::Usage::default() },
            6,
        );
        assert_eq!((worked.known(), worked.so_far(Timestamp(95_000))), (secs(1), secs(90)));
        assert_eq!(worked.possibly_in_last_process(Timestamp(8_500)), Duration::from_millis(3_500));
        assert_eq!(worked.possibly_in_last_process(Timestamp(900_000_000)), secs(1) + MOST_UNSEEN, "much later");
        assert_eq!(worked.possibly_in_last_process(Timestamp(0)), secs(1), "by a clock that went back");
        heard(&mut worked, &resumed(), 8);
        assert_eq!(worked.known(), secs(3), "what may have been work behind its last event is told as such, too");
        heard(&mut worked, &Fact::TaskAdmitted, 101);
        heard(
            &mut worked,
            &Fact::ModelCalled { turn: 1, input_tokens: 0, reserved: sortie_protocol::Usage::default() },
            103,
        );
        assert_eq!((worked.known(), worked.last_heard()), (secs(5), Timestamp(103_000)));
        assert_eq!(worked.possibly_in_last_process(Timestamp(103_000)), secs(2));
    }

    #[test]
    fn legs_are_added_up_without_the_time_between_them() {
        let mut worked = Worked::begin(Timestamp(0));
        for (start, told) in [(0, secs(7)), (1_000_000, secs(14))] {
            heard(&mut worked, &Fact::TaskAdmitted, start);
            heard(&mut worked, &ended(told), start + 7);
            heard(&mut worked, &resumed(), start + 900_000);
        }
        assert_eq!(worked.known(), secs(14));
    }

    #[test]
    fn the_later_end_of_a_stopped_child_is_not_work() {
        let mut worked = Worked::begin(Timestamp(0));
        heard(&mut worked, &Fact::TaskAdmitted, 0);
        heard(
            &mut worked,
            &Fact::ModelCalled { turn: 1, input_tokens: 0, reserved: sortie_protocol::Usage::default() },
            2,
        );
        let child = TaskId::from_random([1; 12]);
        heard(&mut worked, &Fact::ChildEnded { call: CallId("call".to_owned()), child, child_leg: 1 }, 90_000);
        assert_eq!(worked.known(), secs(2));
    }
}
