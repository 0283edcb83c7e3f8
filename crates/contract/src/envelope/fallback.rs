//! Whether another route served than the one that was meant.

use sortie_protocol::TaskOutcome;

use super::Envelope;
use crate::{Call, Contract as _};

pub(super) struct Fallback {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) why: String,
}

/// A route that the call names has to serve. One that only its type names gives way to the agent's own model; there the
/// notice of whoever chose the model tells the one from the other.
pub(super) fn find(call: &Call<'_>, outcome: &TaskOutcome) -> Option<Fallback> {
    let named = Envelope.decode(call.arguments).ok().and_then(|request| request.model);
    let by_type = || Envelope.defaults().type_named(&outcome.agent)?.model.map(str::to_owned);
    let asked = named.is_some();
    let from = named.or_else(by_type)?;
    let notice = outcome.notices.iter().find(|notice| notice.starts_with(&format!("`{from}` is served by ")));
    if from == outcome.model.route || (notice.is_none() && !asked) {
        return None;
    }
    let why = notice.cloned().unwrap_or_else(|| format!("`{from}` was asked for, `{}` answered", outcome.model.route));
    Some(Fallback { from, to: outcome.model.route.clone(), why })
}
