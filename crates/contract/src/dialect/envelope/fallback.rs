//! Fallback: another route served than the one that the call asked for.

use sortie_protocol::TaskOutcome;

use super::Envelope;
use crate::{Call, Contract as _};

pub(super) struct Fallback<'a> {
    /// The route that served.
    pub(super) to: &'a str,
    pub(super) why: String,
}

/// Detects a fallback. A route named in the call must serve; a type's own route is only a preference.
pub(super) fn find<'a>(call: &Call<'_>, outcome: &'a TaskOutcome) -> Option<Fallback<'a>> {
    let asked = Envelope.decode(call.arguments).ok()?.model?;
    let to = outcome.model.route.as_str();
    if asked == to {
        return None;
    }
    let notice = outcome.notices.iter().find(|notice| notice.starts_with(&format!("`{asked}` is served by ")));
    let why = notice.cloned().unwrap_or_else(|| format!("`{asked}` was asked for, `{to}` answered"));
    Some(Fallback { to, why })
}
