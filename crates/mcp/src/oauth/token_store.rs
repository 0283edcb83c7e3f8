//! Tokens in files: one for each server and address, readable by the user alone, in a folder that no agent can read.

use std::fs::File;
use std::path::PathBuf;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sortie_sandbox::SpillDir;

use crate::oauth::oauth_error::OAuthError;
use crate::oauth::registration::Registered;

/// Longest file that is read.
const MAX_BYTES: u64 = 256 << 10;

/// The folder of all files.
#[derive(Debug, Clone)]
pub struct TokenStore {
    folder: PathBuf,
}

impl TokenStore {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The file of a server. Another address is another server, whatever its name.
    pub(super) fn file(&self, name: &str, server: &Url) -> TokenFile {
        let address = address(server);
        let digest = Sha256::digest(address.as_bytes());
        let digest = digest.iter().take(8).fold(0, |digest: u64, byte| digest << 8 | u64::from(*byte));
        TokenFile { folder: self.folder.clone(), name: format!("{name}-{digest:016x}"), address }
    }

    /// Removes the tokens of a server; true if there were any. The server is not told.
    pub fn forget(&self, name: &str, url: &str) -> Result<bool, OAuthError> {
        let unusable = |why| OAuthError::Address { what: "the server's address", url: String::new(), why };
        let file = self.file(name, &url.parse().map_err(|_| unusable("it is not an address"))?);
        let _lock = file.lock()?;
        Ok(file.open()?.drop_kept(&file.name)?)
    }
}

/// The part of an address that tells servers apart.
fn address(server: &Url) -> String {
    format!("{}{}", server.origin().ascii_serialization(), server.path())
}

#[derive(Debug, Clone)]
pub(super) struct TokenFile {
    folder: PathBuf,
    name: String,
    address: String,
}

/// Result of a sign-in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stored {
    /// Address of the server that the tokens are for. They are sent to no other.
    pub(super) server: String,
    pub(super) resource: String,
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    pub(super) registered: Registered,
    /// Address of this machine that was registered.
    pub(super) redirect: String,
    pub(super) access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<String>,
    /// Seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<u64>,
    pub(super) scopes: Vec<String>,
    /// Scopes that the server asked for since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) wanted: Vec<String>,
}

impl TokenFile {
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Reads the file, if there is one. A file that others can read is refused.
    pub(super) fn read(&self) -> Result<Option<Stored>, OAuthError> {
        let Some(bytes) = self.open()?.recall(&self.name, MAX_BYTES)? else { return Ok(None) };
        let damaged = |_| OAuthError::Damaged { path: self.folder.join(&self.name) };
        let stored: Stored = serde_json::from_slice(&bytes).map_err(damaged)?;
        Ok(Some(stored).filter(|stored| stored.server == self.address))
    }

    /// Replaces the file as a whole. The caller holds the lock.
    pub(super) fn write(&self, stored: &Stored) -> Result<(), OAuthError> {
        let text = serde_json::to_string_pretty(stored).unwrap_or_default();
        Ok(self.open()?.keep(&self.name, &text)?)
    }

    /// Waits until nobody else changes these tokens, in this process or another. Blocks.
    pub(super) fn lock(&self) -> Result<File, OAuthError> {
        Ok(self.open()?.lock(&format!("{}-lock", self.name))?)
    }

    fn open(&self) -> Result<SpillDir, OAuthError> {
        Ok(SpillDir::open(&self.folder)?)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;

    use super::*;
    use crate::oauth::registration::Method;

    pub(in crate::oauth) fn stored(file: &TokenFile, token_endpoint: &str) -> Stored {
        let registered = Registered { client_id: "me".to_owned(), client_secret: None, method: Method::None };
        Stored {
            server: file.address().to_owned(),
            resource: file.address().to_owned(),
            issuer: "https://id.example.org".to_owned(),
            token_endpoint: token_endpoint.to_owned(),
            registered,
            redirect: "http://127.0.0.1:1/callback".to_owned(),
            access_token: "first-access-token".to_owned(),
            refresh_token: Some("first-refresh-token".to_owned()),
            expires: None,
            scopes: Vec::new(),
            wanted: Vec::new(),
        }
    }

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    #[test]
    fn tokens_are_for_one_address_and_for_the_user_alone() {
        let home = tempfile::tempdir().unwrap();
        let store = TokenStore::new(home.path().join("mcp-auth"));
        let file = store.file("docs", &url("https://mcp.example.com/mcp?key=1"));
        assert_eq!(file.read().unwrap(), None);
        let kept = stored(&file, "https://id.example.org/token");
        let lock = file.lock().unwrap();
        file.write(&kept).unwrap();
        file.write(&kept).unwrap();
        drop(lock);
        assert_eq!(file.read().unwrap(), Some(kept));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = |file: &TokenFile| file.folder.join(&file.name);
        assert_eq!((mode(&path(&file)), mode(&file.folder)), (0o600, 0o700));
        for other in ["https://mcp.example.com/other", "https://mcp.example.org/mcp", "http://mcp.example.com/mcp"] {
            let other = store.file("docs", &url(other));
            assert_eq!(other.read().unwrap(), None);
            fs::copy(path(&file), path(&other)).unwrap();
            assert_eq!(other.read().unwrap(), None, "even in a file of that name");
        }
        fs::set_permissions(path(&file), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(file.read().unwrap_err().to_string().contains("others can reach it"));
    }

    #[test]
    fn what_is_forgotten_is_gone() {
        let home = tempfile::tempdir().unwrap();
        let store = TokenStore::new(home.path().join("mcp-auth"));
        let file = store.file("docs", &url("https://mcp.example.com/mcp"));
        assert!(!store.forget("docs", "https://mcp.example.com/mcp").unwrap());
        file.write(&stored(&file, "https://id.example.org/token")).unwrap();
        assert!(store.forget("docs", "https://mcp.example.com/mcp").unwrap());
        assert_eq!(file.read().unwrap(), None);
    }
}
