//! Time limits for a client that does not read, over streams or HTTP.

use std::time::Duration;

/// Time for a client to resume reading. Then it counts as gone.
pub(crate) const WRITE_TIME: Duration = Duration::from_mins(1);

/// Time for pending output to a client that is gone or told to go.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);
