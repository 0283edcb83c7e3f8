//! The wait for the answer to an agent's question, within its timeout and the task's remaining time.

use std::time::Duration;

use sortie_protocol::{Failure, FailureCode};
use sortie_tools::Answered;
use tokio::time::Instant;

use crate::budget::deadline::TimeToAsk;
use crate::gate::approval_timeout::seconds;

pub(super) struct AnswerWait {
    time: TimeToAsk,
    began: Instant,
    patience: Duration,
}

impl AnswerWait {
    pub(super) fn begin(time: TimeToAsk, patience: Duration) -> Self {
        Self { time, began: Instant::now(), patience }
    }

    /// Returns the end of the timeout; `None` if it is beyond all time.
    fn of_patience(&self) -> Option<Instant> {
        self.began.checked_add(self.patience)
    }

    /// Returns the whole length of the wait, as it stands now.
    pub(super) fn within(&self) -> Duration {
        self.time.end(self.of_patience()).map_or(self.patience, |end| end - self.began)
    }

    pub(super) async fn runs_out(&self) {
        self.time.passes(self.of_patience()).await;
    }

    /// Returns the result without an answer: a failure if the task's own time cut the wait short.
    pub(super) fn no_answer(&self) -> Result<Option<Answered>, Failure> {
        if !self.time.ends_before(self.of_patience()) {
            return Ok(None);
        }
        let message = format!(
            "no answer within {}, and there is little time left; use your best judgement, and say in your report \
                what you assumed",
            seconds(self.within())
        );
        Err(Failure::new(FailureCode::NoAnswer, message))
    }
}
