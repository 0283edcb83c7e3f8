//! Time limits for somebody who does not read, over streams as over HTTP.

use std::time::Duration;

/// Until one who has stopped reading reads on. Then it counts as gone.
pub(crate) const WRITE_TIME: Duration = Duration::from_mins(1);

/// The same for one who is gone or told to go: for what is written already.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);
