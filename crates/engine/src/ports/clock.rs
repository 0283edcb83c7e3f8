//! The time of day, and fresh ids.

use std::time::{SystemTime, UNIX_EPOCH};

use sortie_mutant::is_out;
use sortie_protocol::{TaskId, Timestamp};

/// The time of day, for people. Deadlines and durations use tokio's monotonic clock.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// Source of fresh ids.
pub trait Ids: Send + Sync {
    fn task(&self) -> TaskId;

    /// A short word that nobody can guess, as a fence around a report.
    fn mark(&self) -> String;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(since_epoch.as_millis() as u64)
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn task(&self) -> TaskId {
        TaskId::from_random(random())
    }

    fn mark(&self) -> String {
        if is_out("report-mark") {
            return "report".to_owned();
        }
        random::<6>().iter().map(|byte| char::from(b'a' + byte % 26)).collect()
    }
}

#[expect(clippy::expect_used, reason = "without randomness tasks cannot have distinct names, so nothing may continue")]
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}
