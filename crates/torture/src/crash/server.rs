//! The scripted server as a process of its own, with every request in its log.

use std::io::{BufRead, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

/// A running server; it ends with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) base_url: String,
}

impl Server {
    /// Its log has requests whole only with the flag `--bodies`.
    pub(crate) fn start(program: &Path, folder: &Path, script: &Value, flags: &[&str]) -> Result<Self> {
        let script_path = folder.join("script.json");
        std::fs::write(&script_path, script.to_string())?;
        let mut child = Command::new(program)
            .arg("--script")
            .arg(script_path)
            .arg("--log")
            .arg(folder.join("requests.log"))
            .args(flags)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run scripted-server")?;
        let mut base_url = String::new();
        BufReader::new(child.stdout.take().context("the server has no output")?).read_line(&mut base_url)?;
        Ok(Self { child, base_url: base_url.trim_end().to_owned() })
    }
}

impl Server {
    /// Opens a gate of the script, for good.
    pub(crate) fn open(&mut self, gate: &str) -> Result<()> {
        let stdin = self.child.stdin.as_mut().context("the server has no input")?;
        writeln!(stdin, "{gate}").and_then(|()| stdin.flush()).context("the server does not read")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to do.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
