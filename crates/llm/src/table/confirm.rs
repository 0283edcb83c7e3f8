//! Confirmation of a chosen model: an id that neither a route nor the catalogue knows must be in its server's own list.
//!
//! A server that gives no list is believed to have the model; so is Azure, whose list has no deployments.

use sortie_protocol::ModelChoice;

use super::route_table::RouteTable;
use crate::UnknownModel;
use crate::call::WireModel;

/// Ids from the server's list in an error.
const SHOWN: usize = 5;
const MAX_SHOWN_BYTES: usize = 100;

/// Tag that an Ollama server adds to a model without one.
const USUAL_TAG: &str = "latest";

const AZURE: &str = ".azure.com";

/// Fails if the model's own server lists its models, and this is not one of them.
pub(super) async fn confirm(table: &RouteTable, choice: &ModelChoice) -> Result<(), UnknownModel> {
    let Some(model) = table.model(&choice.route).filter(|model| is_in_doubt(table, model, &choice.id)) else {
        return Ok(());
    };
    match model.server_models().await {
        Some(ids) if !ids.iter().any(|listed| is_served_as(&choice.id, listed)) => {
            Err(UnknownModel::Nobody { asked: choice.id.clone(), hint: hint(model, &ids) })
        }
        _ => Ok(()),
    }
}

fn is_in_doubt(table: &RouteTable, model: &WireModel, id: &str) -> bool {
    let route = &model.route;
    let is_known = id == route.model || table.catalogue().lookup(id).is_some();
    !is_known && route.missing_key().is_none() && !route.base_url.host().ends_with(AZURE)
}

/// True if a server with this model serves the id. The usual tag may be missing, and the variant need not be listed.
fn is_served_as(id: &str, listed: &str) -> bool {
    let same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
    let is_variant = || id.rsplit_once(':').is_some_and(|(base, _)| same(base, listed));
    let has_usual_tag = || listed.rsplit_once(':').is_some_and(|(base, tag)| tag == USUAL_TAG && same(base, id));
    same(id, listed) || has_usual_tag() || is_variant()
}

fn hint(model: &WireModel, ids: &[String]) -> String {
    let route = &model.route;
    let short = || ids.iter().filter(|id| id.len() <= MAX_SHOWN_BYTES);
    let shown: Vec<String> = short().take(SHOWN).map(|id| format!("`{id}`")).collect();
    let more = match ids.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "the server of route `{}` at {} does not list it; it lists {}{more}; to use it all the same, set a route with \
         this model",
        route.name,
        route.base_url,
        shown.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_may_differ_from_the_listed_one_by_its_tag() {
        for (id, listed, is_served) in [
            ("qwen3:8b", "qwen3:8b", true),
            ("Qwen3", "qwen3", true),
            ("qwen3", "qwen3:latest", true),
            ("qwen3", "qwen3:8b", false),
            ("qwen3:32b", "qwen3:8b", false),
            ("org/model:nitro", "org/model", true),
            ("qwen", "qwen3", false),
        ] {
            assert_eq!(is_served_as(id, listed), is_served, "{id} at a server with {listed}");
        }
    }
}
