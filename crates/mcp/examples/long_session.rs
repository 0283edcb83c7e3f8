//! One long session, and many short ones at once, with a running server over HTTP: its response time and its growth.
//!
//! `cargo run -p sortie-mcp --example long_session -- URL TOKEN_FILE PID [CALLS] [CLIENTS]`, with the values that
//! `sortie mcp --http` printed at its start, and its process id.

#![expect(clippy::print_stdout, reason = "it is a program that reports")]

use std::error::Error;
use std::time::Instant;

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use sortie_llm::AddressKind;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Number of measurements of the process.
const LOOKS: u32 = 10;
/// Calls of each concurrent client.
const SHORT: u32 = 20;

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let usage = "say URL TOKEN_FILE PID [CALLS] [CLIENTS]";
    let [url, token, process] = [args.next(), args.next(), args.next()].map(|arg| arg.ok_or(usage));
    let (url, process) = (url?, process?);
    let token = std::fs::read_to_string(token?)?.trim().to_owned();
    let mut number = |otherwise: u32| args.next().map_or(Ok(otherwise), |text| text.parse());
    let (calls, clients) = (number(10_000)?, number(50)?);

    let session = connect(&url, &token).await?;
    println!("{:>8} {:>9} {:>12} {:>12}", "calls", "calls/s", "resident KiB", "descriptors");
    for look in 1..=LOOKS {
        let since = Instant::now();
        call(&session, calls / LOOKS).await?;
        let rate = f64::from(calls / LOOKS) / since.elapsed().as_secs_f64();
        let (resident, descriptors) = vitals(&process)?;
        println!("{:>8} {rate:>9.0} {resident:>12} {descriptors:>12}", calls / LOOKS * look);
    }
    session.cancel().await?;

    let since = Instant::now();
    let visits = (0..clients).map(|_| {
        let (url, token) = (url.clone(), token.clone());
        tokio::spawn(async move {
            let session = connect(&url, &token).await?;
            call(&session, SHORT).await?;
            session.cancel().await?;
            Outcome::Ok(())
        })
    });
    for visit in visits.collect::<Vec<_>>() {
        visit.await??;
    }
    let (resident, descriptors) = vitals(&process)?;
    let seconds = since.elapsed().as_secs_f64();
    println!(
        "{clients} clients at once, {SHORT} calls each: {seconds:.1} s; {resident} KiB, {descriptors} descriptors"
    );
    Ok(())
}

async fn connect(url: &str, token: &str) -> Outcome<RunningService<RoleClient, ()>> {
    let config = StreamableHttpClientTransportConfig::with_uri(url).auth_header(token);
    let client = sortie_llm::http_client(AddressKind { is_https: false, is_loopback: true })?;
    Ok(().serve(StreamableHttpClientTransport::with_client(client, config)).await?)
}

async fn call(session: &RunningService<RoleClient, ()>, times: u32) -> Outcome<()> {
    for _ in 0..times {
        session.call_tool(CallToolRequestParams::new("SubagentList")).await?;
    }
    Ok(())
}

/// Memory of a process in KiB, and its number of open descriptors.
fn vitals(process: &str) -> Outcome<(u64, usize)> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("it has no memory")?;
    let resident = resident.trim().trim_end_matches("kB").trim().parse()?;
    Ok((resident, std::fs::read_dir(format!("/proc/{process}/fd"))?.count()))
}
