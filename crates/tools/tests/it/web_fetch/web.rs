//! The tool with its rules, called as the engine calls it.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sortie_protocol::{CallId, Resource, ToolOutput};
use sortie_sandbox::Workspace;
use sortie_tools::{Alone, Assistant, BoxFuture, CallContext, Lookup, Seen, Tool, WebFetch, WebRules};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::server::Server;
use crate::project::NoDelegation;

pub(crate) struct Web {
    tool: WebFetch,
    workspace: Arc<Workspace>,
    pub(crate) cancel: CancellationToken,
    _directory: TempDir,
}

impl Web {
    pub(crate) fn new(private: &[&str], own: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self {
            tool: WebFetch::new(WebRules::new(private, own).unwrap()),
            workspace: Arc::new(Workspace::open(directory.path()).unwrap()),
            cancel: CancellationToken::new(),
            _directory: directory,
        }
    }

    /// A tool that may fetch from this server.
    pub(crate) fn of(server: &Server) -> Self {
        Self::new(&[&format!("{}:{}", server.ip(), server.port())], &[])
    }

    pub(crate) fn with_names(self, names: &Arc<Names>) -> Self {
        self.with_lookup(names.clone())
    }

    pub(crate) fn with_lookup(self, lookup: Arc<dyn Lookup>) -> Self {
        Self { tool: self.tool.with_lookup(lookup), ..self }
    }

    pub(crate) fn within(self, within: Duration) -> Self {
        Self { tool: self.tool.within(within), ..self }
    }

    pub(crate) async fn run(
        &self,
        arguments: Value,
        structured: bool,
        assistant: Option<&dyn Assistant>,
    ) -> ToolOutput {
        let call = CallId("call-1".to_owned());
        let seen = Seen::default();
        let context = CallContext { assistant, ..self.context(&call, &seen, structured) };
        Tool::run(&self.tool, &arguments.to_string(), context).await
    }

    pub(crate) async fn fetch(&self, url: &str) -> ToolOutput {
        self.run(json!({"url": url}), false, None).await
    }

    /// Fetches successfully and returns the text for the model.
    pub(crate) async fn done(&self, url: &str) -> String {
        let output = self.fetch(url).await;
        assert!(!output.failed, "{}", output.for_model);
        output.for_model
    }

    /// Fetches, expecting a failure, and returns the text for the model.
    pub(crate) async fn failed(&self, url: &str) -> String {
        let output = self.fetch(url).await;
        assert!(output.failed, "{}", output.for_model);
        output.for_model
    }

    /// The host by which a fetch would be judged.
    pub(crate) fn judged(&self, url: &str) -> Option<String> {
        let (call, seen) = (CallId("call-1".to_owned()), Seen::default());
        let context = self.context(&call, &seen, false);
        match Tool::resource(&self.tool, &json!({"url": url}).to_string(), context) {
            Resource::Host(host) => Some(host),
            Resource::Nothing => None,
            other => panic!("{other:?}"),
        }
    }

    fn context<'a>(&'a self, call: &'a CallId, seen: &'a Seen, structured: bool) -> CallContext<'a> {
        let Self { workspace, cancel, .. } = self;
        CallContext {
            call,
            // Lives as long as the test: each call has its own.
            decoded: Box::leak(Box::default()),
            workspace,
            cancel,
            delegation: &NoDelegation,
            kin: &Alone,
            structured,
            seen,
            assistant: None,
            lender: None,
            shells: None,
            progress: None,
        }
    }
}

/// Names with answers: in order, the last one forever. Every other name is unknown.
#[derive(Default)]
pub(crate) struct Names {
    answers: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub(crate) fn new(names: &[(&'static str, &[&[&str]])]) -> Arc<Self> {
        let parse = |address: &&str| address.parse().unwrap();
        let answers = names.iter().map(|&(name, answers)| {
            (name, answers.iter().map(|addresses| addresses.iter().map(parse).collect()).collect())
        });
        Arc::new(Self { answers: answers.collect(), asked: Mutex::default() })
    }

    /// The names looked up so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Lookup for Names {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let n_before = self.asked().iter().filter(|asked| *asked == host).count();
        self.asked.lock().unwrap().push(host.to_owned());
        let answers = self.answers.get(host);
        let answer = answers.and_then(|answers| answers.get(n_before).or(answers.last())).cloned();
        Box::pin(std::future::ready(answer.ok_or_else(|| io::Error::other("no such name"))))
    }
}
