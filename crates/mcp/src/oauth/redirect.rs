//! The place on this machine to which the browser brings the answer of a sign-in. It is one port of the loopback
//! address, open as long as somebody may sign in.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::oauth::authorization::Answered;
use crate::oauth::oauth_error::OAuthError;

const PATH: &str = "/callback";
/// Time for a person to sign in.
const PATIENCE: Duration = Duration::from_mins(10);
/// Time for one request, and the longest first line of one.
const REQUEST_TIME: Duration = Duration::from_secs(5);
const MAX_LINE_BYTES: u64 = 16 << 10;

pub(super) struct Redirect {
    listener: TcpListener,
    address: String,
}

impl Redirect {
    /// Takes this port, or any free one.
    pub(super) async fn open(port: Option<u16>) -> Result<Self, OAuthError> {
        let no_port = |source| OAuthError::NoPort { source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await.map_err(no_port)?;
        let port = listener.local_addr().map_err(no_port)?.port();
        Ok(Self { listener, address: format!("http://127.0.0.1:{port}{PATH}") })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Waits for the answer to the request with this state. Anybody on this machine can come here, so everything else
    /// is turned away.
    pub(super) async fn answer(&self, state: &str) -> Result<Answered, OAuthError> {
        let came = async {
            loop {
                let (stream, _) = self.listener.accept().await.map_err(|source| OAuthError::NoPort { source })?;
                if let Ok(Some(answered)) = timeout(REQUEST_TIME, serve(stream, state)).await {
                    return Ok(answered);
                }
            }
        };
        let nobody = || OAuthError::NobodyCame { minutes: PATIENCE.as_secs() / 60 };
        timeout(PATIENCE, came).await.unwrap_or_else(|_| Err(nobody()))
    }
}

async fn serve(stream: TcpStream, state: &str) -> Option<Answered> {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    (&mut stream).take(MAX_LINE_BYTES).read_line(&mut line).await.ok()?;
    let target = line.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let answered = (path == PATH).then(|| Answered::read(query)).filter(|came| came.state.as_deref() == Some(state));
    let (status, text) = match &answered {
        Some(Answered { error: None, .. }) => ("200 OK", "Signed in. You can close this page."),
        Some(_) => ("200 OK", "Not signed in. You can close this page."),
        None => ("404 Not Found", "Nothing is here."),
    };
    let head = "Content-Type: text/plain; charset=utf-8\r\nReferrer-Policy: no-referrer\r\nConnection: close";
    let page = format!("HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{text}\n", text.len() + 1);
    stream.get_mut().write_all(page.as_bytes()).await.ok();
    // Read to the end of its head, so that the browser is not cut off.
    let mut rest = String::new();
    let mut bounded = (&mut stream).take(MAX_LINE_BYTES);
    while bounded.read_line(&mut rest).await.is_ok_and(|read| read > 2) {
        rest.clear();
    }
    stream.get_mut().shutdown().await.ok();
    answered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_answer_with_the_right_state_is_taken() {
        let redirect = Redirect::open(None).await.unwrap();
        let port = redirect.listener.local_addr().unwrap().port();
        let visits = async {
            let mut pages = Vec::new();
            for target in
                ["/", "/callback", "/callback?code=c&state=wrong", "/other?state=s", "/callback?code=c&state=s"]
            {
                let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
                stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n").as_bytes()).await.unwrap();
                let mut page = String::new();
                stream.read_to_string(&mut page).await.unwrap();
                pages.push(page[9..12].to_owned());
            }
            pages
        };
        let (answered, pages) = tokio::join!(redirect.answer("s"), visits);
        assert_eq!(answered.unwrap().code.as_deref(), Some("c"));
        assert_eq!(pages, ["404", "404", "404", "404", "200"]);
    }
}
