//! How long a leg has worked, over all processes that had it. The time in which nobody had it does not count.
//!
//! Known from the times of its events alone. How long a process lived behind its last one is known to nobody.

use std::time::Duration;

use sortie_protocol::{Fact, Timestamp};

/// So much of the time between the last event of a process that is gone and the takeover counts against the time limit:
/// it may have worked that long, and who kills it again and again must not give it time anew. More would punish a task for
/// having lain still.
const MOST_UNSEEN: Duration = Duration::from_mins(1);

/// The working time of one leg.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Worked {
    /// In processes before the one that had it last.
    before: Duration,
    /// When that one got to work.
    admitted: Option<Timestamp>,
    last_heard: Timestamp,
}

impl Worked {
    pub(crate) fn begin(time: Timestamp) -> Self {
        Self { before: Duration::ZERO, admitted: None, last_heard: time }
    }

    /// Takes in the next event.
    pub(crate) fn hear(&mut self, fact: &Fact, is_new_leg: bool, time: Timestamp) {
        match fact {
            Fact::TaskResumed { .. } if is_new_leg => *self = Self::begin(time),
            Fact::TaskResumed { .. } => (self.before, self.admitted) = (self.known(), None),
            Fact::TaskAdmitted => self.admitted = Some(time),
            _ => {}
        }
        self.last_heard = time;
    }

    /// When the task was last heard of.
    pub(crate) fn last_heard(&self) -> Timestamp {
        self.last_heard
    }

    /// How long the leg has worked for sure.
    pub(crate) fn known(&self) -> Duration {
        self.before + self.in_last_process()
    }

    /// What the process that had it last may have worked. Clocks may have been set back; time is never given anew.
    pub(crate) fn possibly_in_last_process(&self, now: Timestamp) -> Duration {
        let unseen = self.admitted.map_or(Duration::ZERO, |_| since(self.last_heard, now).min(MOST_UNSEEN));
        self.in_last_process() + unseen
    }

    fn in_last_process(&self) -> Duration {
        self.admitted.map_or(Duration::ZERO, |admitted| since(admitted, self.last_heard))
    }
}

fn since(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::from_millis(later.0.saturating_sub(earlier.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resumed() -> Fact {
        let config = serde_json::json!({
            "agent": "a", "model": {"route": "r", "id": "m"}, "system": "", "tools": [], "grant": [], "limits": {},
            "depth": 0, "chain": ["a"]
        });
        let config = Box::new(serde_json::from_value(config).unwrap());
        Fact::TaskResumed { prompt: None, config, notices: Vec::new() }
    }

    #[test]
    fn work_is_counted_over_processes_and_neither_waiting_nor_lying_still() {
        let mut worked = Worked::begin(Timestamp(0));
        let hear = |worked: &mut Worked, fact: Fact, time| worked.hear(&fact, false, Timestamp(time));
        assert_eq!(worked.possibly_in_last_process(Timestamp(9_000)), Duration::ZERO, "it has not begun");
        hear(&mut worked, Fact::TaskAdmitted, 5_000);
        hear(&mut worked, Fact::ModelCalled { turn: 1 }, 6_000);
        assert_eq!(worked.known(), Duration::from_secs(1));
        assert_eq!(worked.possibly_in_last_process(Timestamp(8_500)), Duration::from_millis(3_500));
        let much_later = worked.possibly_in_last_process(Timestamp(900_000_000));
        assert_eq!(much_later, Duration::from_secs(1) + MOST_UNSEEN);
        assert_eq!(worked.possibly_in_last_process(Timestamp(0)), Duration::from_secs(1), "by a clock that went back");
        hear(&mut worked, resumed(), 100_000);
        hear(&mut worked, Fact::TaskAdmitted, 101_000);
        hear(&mut worked, Fact::ModelCalled { turn: 1 }, 103_000);
        assert_eq!(worked.known(), Duration::from_secs(3));
        assert_eq!(worked.possibly_in_last_process(Timestamp(103_000)), Duration::from_secs(2));
        worked.hear(&resumed(), true, Timestamp(200_000));
        assert_eq!((worked.known(), worked.last_heard()), (Duration::ZERO, Timestamp(200_000)));
    }
}
