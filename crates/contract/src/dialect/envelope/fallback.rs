//! The route that served, of the two, and whether it was the intended one.

use sortie_protocol::TaskOutcome;

use super::{Envelope, MAIN, MODELS};
use crate::{Call, Contract as _};

pub(super) struct Fallback {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) why: String,
}

/// Returns which of the two served. If neither did, because none is set or the agent's file names another route, the
/// model that served counts as the intended one.
pub(super) fn served(call: &Call<'_>, outcome: &TaskOutcome) -> String {
    let route = &outcome.model.route;
    if MODELS.contains(&route.as_str()) {
        return route.clone();
    }
    named(call).or_else(|| by_type(outcome)).unwrap_or_else(|| MAIN.to_owned())
}

/// Detects a fallback. A route named in the call must serve. One named only by the type gives way to the agent's own
/// model; the engine's notice tells the two apart.
pub(super) fn find(call: &Call<'_>, outcome: &TaskOutcome) -> Option<Fallback> {
    let (named, to) = (named(call), served(call, outcome));
    let is_named = named.is_some();
    let from = named.or_else(|| by_type(outcome))?;
    let notice = outcome.notices.iter().find(|notice| notice.starts_with(&format!("`{from}` is served by ")));
    if from == to || (notice.is_none() && !is_named) {
        return None;
    }
    let why = notice.cloned().unwrap_or_else(|| format!("`{from}` was asked for, `{to}` answered"));
    Some(Fallback { from, to, why })
}

fn named(call: &Call<'_>) -> Option<String> {
    Envelope.decode(call.arguments).ok()?.model
}

fn by_type(outcome: &TaskOutcome) -> Option<String> {
    Envelope.defaults().type_named(&outcome.agent)?.model.map(str::to_owned)
}
