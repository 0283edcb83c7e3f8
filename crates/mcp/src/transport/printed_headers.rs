//! Headers from a program of the user's own, which prints them as a JSON object of texts. It runs like a server's
//! program: without walls, from a place where no agent can write, in bounded time, and its output is never shown.

use std::collections::BTreeMap;
use std::time::Duration;

use sortie_sandbox::OwnService;
use sortie_sandbox::process::How;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe;
use tokio::time::timeout;

use crate::transport::ServerGround;

/// Time for all of it.
const WITHIN: Duration = Duration::from_secs(10);
const MAX_BYTES: u64 = 64 << 10;
/// Time to exit after its last word.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the program with its arguments. It finds the server's name and address in variables.
pub(crate) async fn headers(
    server: &str,
    url: &str,
    helper: &[String],
    ground: &ServerGround,
) -> Result<BTreeMap<String, String>, String> {
    let Some((program, arguments)) = helper.split_first() else { return Ok(BTreeMap::new()) };
    let failed = |why: String| format!("its `headersHelper` {why}");
    let mut service = OwnService {
        program: program.clone(),
        arguments: arguments.to_vec(),
        directory: ground.workspace.clone(),
        environment: ground.environment.clone(),
        changeable: ground.changeable.clone(),
    };
    // As other programs that run such helpers call them.
    service.environment.set("CLAUDE_CODE_MCP_SERVER_NAME", server);
    service.environment.set("CLAUDE_CODE_MCP_SERVER_URL", url);
    let started = tokio::task::spawn_blocking(move || service.start()).await;
    let (running, pipes) =
        started.map_err(|error| error.to_string())?.map_err(|error| failed(format!("cannot be run: {error}")))?;
    drop(pipes.input);
    let words = |error: std::io::Error| failed(error.to_string());
    let (output, mut errors) = (
        pipe::Receiver::from_owned_fd(pipes.output).map_err(words)?,
        pipe::Receiver::from_owned_fd(pipes.errors).map_err(words)?,
    );
    let mut said = Vec::new();
    let mut output = output.take(MAX_BYTES + 1);
    let mut nobody = tokio::io::sink();
    let read = async { tokio::join!(output.read_to_end(&mut said), tokio::io::copy(&mut errors, &mut nobody)).0 };
    let read = timeout(WITHIN, read).await;
    let how =
        tokio::task::spawn_blocking(move || running.end(GRACE, GRACE)).await.map_err(|error| error.to_string())?;
    match (read, how) {
        (Err(_), _) => return Err(failed(format!("did not end within {} s", WITHIN.as_secs()))),
        (Ok(Ok(_)), How::Exited { code: 0 }) => {}
        (Ok(Ok(_)), How::Exited { code }) => return Err(failed(format!("failed (exit code {code})"))),
        (Ok(_), _) => return Err(failed("was cut off".to_owned())),
    }
    let unreadable = || failed("did not print a JSON object of texts".to_owned());
    if said.len() as u64 > MAX_BYTES {
        return Err(failed(format!("printed more than {} KiB", MAX_BYTES >> 10)));
    }
    serde_json::from_slice(&said).map_err(|_| unreadable())
}
