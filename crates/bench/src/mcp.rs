//! `sortie mcp` as a host sees it: the time to its first answer, and the time of a Task call beyond its model.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::figure::{Figure, Unit};
use super::program::Sortie;
use super::sample::Sample;
use super::server::Server;
use super::{Bench, script};

/// Calls in one session.
const CALLS: usize = 10;

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let server = Server::start(bench, "mcp", &script::errand())?;
    let sortie = Sortie {
        program: &bench.sortie,
        home: bench.path("mcp-home"),
        workspace: bench.sources()?,
        base_url: server.base_url(),
    };
    // Each makes its journal once.
    sortie.task(script::ERRAND)?;
    server.take()?;
    let (mut greeting, mut call, mut process) = (Sample::default(), Sample::default(), Sample::default());
    for _ in 0..bench.runs {
        let began = Instant::now();
        let mut host = Host::start(&sortie)?;
        greeting.push_ms(began.elapsed());
        for _ in 0..CALLS {
            let began = Instant::now();
            host.task()?;
            call.push_ms(began.elapsed().saturating_sub(server.take()?.span()));
        }
        drop(host);
        let ran = sortie.task(script::ERRAND)?;
        process.push_ms(ran.elapsed.saturating_sub(server.take()?.span()));
    }
    Ok(vec![
        Figure::of("`sortie mcp`: process start to the answer to `initialize`", &greeting, Unit::Milliseconds)
            .at_most(20.0),
        Figure::of("— a Task call, without the time of its model", &call, Unit::Milliseconds).at_most(3.0),
        Figure::of("— the same as a process, `sortie task`", &process, Unit::Milliseconds),
    ])
}

/// A host with its server, which ends with this value.
struct Host {
    server: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    n_asked: u64,
}

impl Host {
    /// Starts a server and greets it.
    fn start(sortie: &Sortie<'_>) -> Result<Self> {
        let mut command = sortie.command(&["mcp"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().context("cannot run sortie mcp")?;
        let input = server.stdin.take().context("it has no input")?;
        let output = BufReader::new(server.stdout.take().context("it has no output")?);
        let mut host = Self { server, input, output, n_asked: 0 };
        let client = json!({ "name": "bench", "version": "1" });
        host.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }))?;
        writeln!(host.input, "{}", json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(host)
    }

    fn task(&mut self) -> Result<()> {
        let arguments = json!({ "description": "Think", "prompt": script::ERRAND });
        let answer = self.ask("tools/call", &json!({ "name": "Task", "arguments": arguments }))?;
        if answer["isError"] == true || !answer.to_string().contains(script::THOUGHT) {
            bail!("the task did not do what it should: {answer}");
        }
        Ok(())
    }

    /// Returns the result of a request. Messages that the server sends unasked are skipped.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.n_asked += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.n_asked, "method": method, "params": params });
        writeln!(self.input, "{request}")?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the server has ended instead of answering {method}");
            }
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.n_asked {
                return match message.get_mut("result") {
                    Some(result) => Ok(result.take()),
                    None => bail!("{method} was answered with {message}"),
                };
            }
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to do.
        self.server.kill().ok();
        self.server.wait().ok();
    }
}
