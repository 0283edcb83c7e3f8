//! Diagnosis of the journal: it can be read, or created if there is none.

use std::path::Path;

use rustix::fs::{Access, access};
use sortie_journal::SqliteJournal;

use super::diagnosis::Diagnosis;
use crate::settings::Settings;

const SUBJECT: &str = "journal";

pub(super) fn journal(settings: &Settings) -> Diagnosis {
    let path = settings.places.journal();
    if path.exists() { existing(&path) } else { to_be_made(&path) }
}

fn existing(path: &Path) -> Diagnosis {
    let version = SqliteJournal::open_read_only(path).and_then(|journal| journal.format_version());
    let shown = path.display();
    match version {
        Ok(version) => {
            let size = path.metadata().map(|metadata| metadata.len()).unwrap_or_default();
            let text = format!("{shown}, {}, format {version}", bytes(size));
            match access(path, Access::WRITE_OK) {
                Ok(()) => Diagnosis::ok(SUBJECT, text),
                Err(_) => Diagnosis::error(SUBJECT, format!("{text}; it cannot be written"), ADVICE),
            }
        }
        Err(error) => Diagnosis::error(SUBJECT, error.to_string(), ADVICE),
    }
}

const ADVICE: &str = "repair or move the file, or set SORTIE_HOME to another directory";

fn to_be_made(path: &Path) -> Diagnosis {
    let shown = path.display();
    let nearest = path.ancestors().skip(1).find(|ancestor| ancestor.exists());
    match nearest {
        Some(directory) if directory.is_dir() && access(directory, Access::WRITE_OK).is_ok() => {
            Diagnosis::ok(SUBJECT, format!("{shown} does not exist; the first run creates it"))
        }
        nearest => {
            let place = nearest.unwrap_or(path).display();
            let text = format!("{shown} does not exist, and nothing can be created in {place}");
            Diagnosis::error(SUBJECT, text, "set SORTIE_HOME to a directory that you can write to")
        }
    }
}

/// `812 bytes`, `12.4 kB`, `1.2 MB`.
fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} bytes"),
        1_000..999_950 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}
