//! The settings: which files say something, what of it does not count, and how far the project is trusted.

use std::path::Path;

use super::diagnosis::Diagnosis;
use crate::settings::{Listed, PROJECT_CONFIG, Settings};

/// Untrusted a project can set no more than this; what a trusted one sets beyond it is in `config show`.
const MOST_OF_PROJECT: usize = 20;

pub(super) fn settings(settings: &Settings) -> Vec<Diagnosis> {
    let mut diagnoses = vec![match &settings.places.config {
        Some(path) => file("configuration", path),
        None => Diagnosis::ok("configuration", "none: HOME is not set"),
    }];
    if settings.places.project_config().exists() {
        diagnoses.push(Diagnosis::ok("project", PROJECT_CONFIG));
    }
    diagnoses.extend(settings.listed_of_project().take(MOST_OF_PROJECT).map(
        |Listed { path, value, origin, .. }| {
            Diagnosis::ok("project", format!("sets {path} = {value} ({origin}); `--set {path}=…` overrides it"))
        },
    ));
    diagnoses.push(Diagnosis::ok("trust", settings.trust_summary()));
    // Warnings say themselves what to do.
    diagnoses.extend(settings.warnings.iter().map(|warning| Diagnosis::warning("settings", warning.clone(), "")));
    diagnoses
}

/// A file that was read if it is there: one that cannot be read would have been an error already.
fn file(subject: &str, path: &Path) -> Diagnosis {
    let shown = path.display();
    if path.exists() {
        Diagnosis::ok(subject, shown.to_string())
    } else {
        Diagnosis::ok(subject, format!("{shown} does not exist; defaults hold"))
    }
}
