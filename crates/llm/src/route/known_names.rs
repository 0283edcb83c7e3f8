//! Known names, suggested for a model name that does not exist.

use sortie_protocol::nearest_few;

use crate::model_data::{Catalogue, WireKind};

/// Maximum number of suggestions.
const MOST: usize = 3;

/// Names that a person may have meant: routes, aliases, and the catalogue's models.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownNames {
    pub(crate) names: Vec<String>,
    pub(crate) catalogue: Catalogue,
}

impl KnownNames {
    /// Returns a question that suggests the nearest names, of all providers or of one wire's; `None` if none is near.
    pub(crate) fn did_you_mean(&self, asked: &str, wire: Option<WireKind>) -> Option<String> {
        let names = self.names.iter().map(String::as_str).chain(self.catalogue.ids(wire));
        let near: Vec<String> = nearest_few(asked, names, MOST).into_iter().map(|name| format!("`{name}`")).collect();
        let (last, others) = near.split_last()?;
        Some(match others {
            [] => format!("did you mean {last}?"),
            _ => format!("did you mean {} or {last}?", others.join(", ")),
        })
    }
}
