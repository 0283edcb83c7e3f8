//! Temporary workspaces, one per test.

use std::fs;
use std::io;
use std::path::{Component, Path};

use tempfile::TempDir;

/// Makes a temporary directory with these files; it is removed when the value is dropped.
///
/// A path that ends in `/` makes an empty directory. Paths that lead outside are refused.
pub fn workspace<P, T>(files: impl IntoIterator<Item = (P, T)>) -> io::Result<TempDir>
where
    P: AsRef<str>,
    T: AsRef<[u8]>,
{
    let directory = TempDir::with_prefix("sortie-test-")?;
    for (path, content) in files {
        let path = path.as_ref();
        if !Path::new(path).components().all(|component| matches!(component, Component::Normal(_))) {
            let message = format!("`{path}` does not stay inside of the workspace");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let target = directory.path().join(path);
        if path.ends_with('/') {
            fs::create_dir_all(&target)?;
            continue;
        }
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&target, content)?;
    }
    Ok(directory)
}
