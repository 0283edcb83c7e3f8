//! The official Python SDK as a host of `sortie mcp`, over its streams and over HTTP.

use std::io::Write as _;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde_json::json;

use super::served::Served;
use super::suite::Who;
use super::{Findings, Stage};

pub(super) fn findings(stage: &Stage) -> Result<Findings> {
    let server = Served::start(stage, Who::Sortie)?;
    let place = server.place();
    let environment: serde_json::Map<_, _> =
        place.environment().into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let where_all_is = json!({
        "program": place.program(),
        "environment": environment,
        "workspace": place.path("workspace"),
        "url": server.url(),
        "token": server.token()?,
    });
    let mut child = Command::new(&stage.python)
        .arg(stage.scripts.join("client.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot run Python")?;
    child.stdin.take().context("Python has no input")?.write_all(where_all_is.to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    print!("{said}");
    let mut findings = Findings::new();
    if !output.status.success() {
        let after = said.lines().last().unwrap_or("nothing");
        findings.push(format!("client.py failed after {after}:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    findings.extend(server.end()?);
    Ok(findings)
}
