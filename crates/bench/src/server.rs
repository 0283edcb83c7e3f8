//! The scripted server as a process of its own, and the requests in its log.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::Value;

use super::Bench;

/// A running server; it ends with this value.
pub(super) struct Server {
    child: Child,
    base_url: String,
    log: PathBuf,
    /// Bytes of the log that have been taken.
    taken: Cell<u64>,
}

/// Requests and answers of one run, in the order of the log.
#[derive(Debug)]
pub(super) struct Traffic {
    lines: Vec<Line>,
}

/// A line of the server's log.
#[derive(Debug, Deserialize)]
struct Line {
    event: Event,
    /// Microseconds since 1970.
    unix_us: u64,
    connection: u64,
    /// Status of an answer.
    #[serde(default)]
    status: u16,
    /// Replies of the model that a request holds.
    #[serde(default)]
    turn: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Event {
    Request,
    Answer,
}

impl Server {
    pub(super) fn start(bench: &Bench, name: &str, script: &Value) -> Result<Self> {
        let (script_path, log) = (bench.path(&format!("{name}.json")), bench.path(&format!("{name}.log")));
        std::fs::write(&script_path, script.to_string())?;
        let mut child = Command::new(&bench.scripted_server)
            .arg("--script")
            .arg(&script_path)
            .arg("--log")
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run scripted-server")?;
        let mut base_url = String::new();
        BufReader::new(child.stdout.take().context("the server has no output")?).read_line(&mut base_url)?;
        Ok(Self { child, base_url: base_url.trim_end().to_owned(), log, taken: Cell::new(0) })
    }

    pub(super) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Takes the new part of the log. Waits until every request in it is answered.
    pub(super) fn take(&self) -> Result<Traffic> {
        const PATIENCE: Duration = Duration::from_secs(5);
        let began = Instant::now();
        loop {
            let text = self.unread()?;
            // The last answer may be read by the client a moment before the server writes that it is out.
            if let Some(traffic) = Traffic::parse(&text)? {
                self.taken.set(self.taken.get() + text.len() as u64);
                return Ok(traffic);
            }
            if began.elapsed() > PATIENCE {
                bail!("the server did not answer all requests:\n{text}");
            }
            std::thread::yield_now();
        }
    }

    /// Counts the requests that have arrived since the log was last taken.
    pub(super) fn n_requests(&self) -> Result<usize> {
        // A line that is half written is not there yet.
        Ok(self.unread()?.lines().filter(|line| line.contains(r#""event":"request""#) && line.ends_with('}')).count())
    }

    fn unread(&self) -> Result<String> {
        let mut file = File::open(&self.log)?;
        file.seek(SeekFrom::Start(self.taken.get()))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok(text)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to do.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Traffic {
    /// `None` while an answer is missing, or half a line.
    fn parse(text: &str) -> Result<Option<Self>> {
        if !text.ends_with('\n') {
            return Ok(None);
        }
        let lines: Vec<Line> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let count = |event| lines.iter().filter(|line| line.event == event).count();
        if count(Event::Answer) < count(Event::Request) {
            return Ok(None);
        }
        if let Some(refused) = lines.iter().find(|line| line.event == Event::Answer && line.status != 200) {
            bail!("the server answered with status {}", refused.status);
        }
        Ok(Some(Self { lines }))
    }

    /// Arrival of the first request, as time since 1970.
    pub(super) fn first_arrival(&self) -> Option<Duration> {
        self.lines.iter().find(|line| line.event == Event::Request).map(|line| Duration::from_micros(line.unix_us))
    }

    /// Time from the first request to the last answer.
    pub(super) fn span(&self) -> Duration {
        let last = self.lines.iter().rfind(|line| line.event == Event::Answer).map(|line| line.unix_us);
        last.map(Duration::from_micros).unwrap_or_default().saturating_sub(self.first_arrival().unwrap_or_default())
    }

    /// Times from the only answer to each task but the first `n_parents` to the next request of anybody.
    pub(super) fn wake_ups(&self, n_parents: usize) -> impl Iterator<Item = Duration> {
        let is_first = |line: &Line| line.event == Event::Request && line.turn == 0;
        let first = self.lines.iter().enumerate().filter(move |(_, line)| is_first(line)).skip(n_parents);
        first.filter_map(|(index, first)| {
            let mut behind = self.lines[index..].iter();
            let answer = behind.find(|line| line.event == Event::Answer && line.connection == first.connection)?;
            let next = behind.find(|line| line.event == Event::Request)?;
            Some(Duration::from_micros(next.unix_us).saturating_sub(Duration::from_micros(answer.unix_us)))
        })
    }

    /// The most requests that waited for their answers at the same time.
    pub(super) fn max_at_once(&self) -> usize {
        let (mut waiting, mut most) = (0_usize, 0);
        for line in &self.lines {
            match line.event {
                Event::Request => waiting += 1,
                Event::Answer => waiting = waiting.saturating_sub(1),
            }
            most = most.max(waiting);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"{"event":"request","unix_us":1000,"turn":0,"connection":1}
{"event":"answer","unix_us":1500,"status":200,"connection":1}
{"event":"request","unix_us":2000,"turn":0,"connection":2}
{"event":"request","unix_us":2100,"turn":1,"connection":1}
{"event":"answer","unix_us":3000,"status":200,"connection":1}
{"event":"answer","unix_us":4000,"status":200,"connection":2}
"#;

    #[test]
    fn a_log_shows_span_and_concurrency() {
        let traffic = Traffic::parse(LOG).unwrap().unwrap();
        assert_eq!(traffic.first_arrival(), Some(Duration::from_millis(1)));
        assert_eq!(traffic.span(), Duration::from_millis(3));
        assert_eq!(traffic.max_at_once(), 2);
    }

    #[test]
    fn a_log_shows_how_long_each_parent_took_to_wake_up() {
        let woken = r#"{"event":"request","unix_us":6500,"turn":2,"connection":2}
{"event":"answer","unix_us":7000,"status":200,"connection":2}
"#;
        let traffic = Traffic::parse(&format!("{LOG}{woken}")).unwrap().unwrap();
        assert_eq!(traffic.wake_ups(1).collect::<Vec<_>>(), [Duration::from_micros(2500)]);
    }

    #[test]
    fn a_log_without_its_last_answer_is_not_complete() {
        let cut = LOG.trim_end().rsplit_once('\n').unwrap().0;
        assert!(Traffic::parse(&format!("{cut}\n")).unwrap().is_none());
        assert!(Traffic::parse(LOG.trim_end()).unwrap().is_none());
    }

    #[test]
    fn a_refused_request_spoils_the_measurement() {
        assert!(Traffic::parse(&LOG.replace("3000,\"status\":200", "3000,\"status\":400")).is_err());
    }
}
