//! Random grants and calls: random rules, trees up to five deep, with resumes and policy changes in between.

use sortie_policy::{Judge, intersect, narrow};
use sortie_protocol::{Grant, GrantLayer, Mode, Resource};

use super::draw::Draw;
use super::support::{TOOLS, agent, command, host, path, places};

const MAX_DEPTH: u64 = 5;

const PATH_PATTERNS: [&str; 25] = [
    "src/**",
    "src/*.rs",
    "src",
    "/src",
    "*.rs",
    "*.key",
    "secrets/**",
    "Secrets/**",
    "**/deep/*",
    "a/**/z",
    "a/*/z",
    "?.rs",
    "docs/",
    "/a.rs",
    "~/project/src/**",
    "~/other/**",
    "//srv/data/**",
    "//people/me/project/a",
    "//people/*/project/docs",
    "*",
    "**",
    "src/a.rs",
    "**/src",
    "s*r*",
    "data",
];
pub(crate) const PATHS: [&str; 26] = [
    "",
    "a.rs",
    "src",
    "src/a.rs",
    "src/deep/b.rs",
    "src/deep/x.key",
    "SRC/a.rs",
    "ｓrc/a.rs",
    "secrets/x.key",
    "SECRETS/X.KEY",
    "secrets-not/x",
    "a/z",
    "a/b/z",
    "a/b/c/z",
    "docs/a.md",
    "x/docs/a.md",
    "lib/src/a.rs",
    "/srv/data/a.rs",
    "/srv/data2/a.rs",
    "/people/me/other/a",
    ".git/config",
    "sub/.GIT/hooks/x",
    "GIT~1/x",
    ".bashrc",
    "/var/lib/sortie/trust",
    "src/../x",
];
const COMMAND_PATTERNS: [&str; 6] = ["git diff:*", "git:*", "git push", "rm:*", "ls", "*"];
const COMMANDS: [&str; 9] = [
    "git diff",
    "git diff --stat",
    "git difftool",
    "git push",
    "git push; ls",
    "rm -rf x",
    "ls | rm x",
    "ls",
    "git diff $x",
];
const HOST_PATTERNS: [&str; 5] =
    ["domain:example.com", "domain:*.example.com", "domain:bücher.example", "domain:*", "domain:other.org"];
pub(crate) const HOSTS: [&str; 8] = [
    "example.com",
    "EXAMPLE.com.",
    "www.example.com",
    "evilexample.com",
    "example.com.evil.net",
    "xn--bcher-kva.example",
    "other.org",
    "no host",
];
const AGENTS: [&str; 4] = ["coder", "Coder", "explore", "plan"];

/// Draws the cases.
pub(crate) trait DrawCase {
    fn rule(&mut self) -> String;
    fn rules(&mut self, most: u64) -> Vec<String>;
    fn mode(&mut self) -> Option<Mode>;
    fn layer(&mut self, owner: String) -> GrantLayer;
    fn call(&mut self) -> (&'static str, Resource);
}

impl DrawCase for Draw {
    fn rule(&mut self) -> String {
        let name = match self.below(16) {
            0..=2 => "Read",
            3..=4 => "Edit",
            5..=6 => "Bash",
            7 => self.one_of(&["Task", "task", "Agent"]),
            8 => self.one_of(&["mcp__db", "mcp__db__*", "mcp__db__query", "bash", "Novelty"]),
            9 => "WebFetch",
            _ => self.one_of(&["LS", "Glob", "Grep", "Write", "MultiEdit", "TodoWrite", "SendMessage", "BashOutput"]),
        };
        let pattern = match name {
            _ if self.once_in(4) => return name.to_owned(),
            "Read" | "Edit" | "LS" | "Glob" | "Grep" | "Write" | "MultiEdit" => self.one_of(&PATH_PATTERNS),
            "Bash" | "bash" => self.one_of(&COMMAND_PATTERNS),
            "WebFetch" => self.one_of(&HOST_PATTERNS),
            "Task" | "task" | "Agent" => self.one_of(&["coder", "Explore", "*"]),
            _ => return name.to_owned(),
        };
        format!("{name}({pattern})")
    }

    fn rules(&mut self, most: u64) -> Vec<String> {
        (0..self.below(most + 1)).map(|_| self.rule()).collect()
    }

    fn mode(&mut self) -> Option<Mode> {
        [None, None, Some(Mode::Default), Some(Mode::Plan), Some(Mode::AcceptEdits), Some(Mode::Bypass)]
            [self.below(6) as usize]
    }

    /// Most layers restrict little, as in practice, so that most calls get past some of them.
    fn layer(&mut self, owner: String) -> GrantLayer {
        let tools = match self.below(8) {
            0 => Some(self.rules(6)),
            1 => Some(TOOLS.iter().map(|&tool| tool.to_owned()).chain(self.rules(2)).collect()),
            2 => Some(["Read", "Edit(**)", "Bash", "Task", "Grep(*)"].map(str::to_owned).into()),
            _ => None,
        };
        GrantLayer {
            tools,
            deny: self.rules(2),
            ask: self.rules(2),
            allow: self.rules(4),
            shares_allow: self.once_in(3),
            mode: self.mode(),
            approves_reads: self.once_in(5),
            never_asks: self.once_in(10),
            as_started: false,
            owner,
        }
    }

    fn call(&mut self) -> (&'static str, Resource) {
        let tool = TOOLS[self.below(TOOLS.len() as u64) as usize];
        let resource = match tool {
            _ if self.once_in(12) => Resource::Nothing,
            "Read" | "LS" | "Glob" | "Grep" | "Edit" | "Write" | "MultiEdit" => path(self.one_of(&PATHS)),
            "Bash" => command(self.one_of(&COMMANDS)),
            "WebFetch" => host(self.one_of(&HOSTS)),
            "Task" | "task" | "Agent" | "SendMessage" => agent(self.one_of(&AGENTS)),
            _ => Resource::Nothing,
        };
        (tool, resource)
    }
}

/// The step from one grant to the next.
pub(crate) enum Step {
    /// The first grant.
    Root,
    /// A child with this layer.
    Narrowed(GrantLayer),
    /// One task, resumed under these layers.
    Resumed(Vec<GrantLayer>),
}

pub(crate) struct Link {
    pub(crate) grant: Grant,
    pub(crate) judge: Judge,
    pub(crate) step: Step,
}

impl Link {
    fn new(grant: Grant, step: Step) -> Self {
        let judge = Judge::new(&grant, places()).expect("drawn rules can be read");
        Self { grant, judge, step }
    }
}

/// Draws a chain of tasks: each is a child of the previous one, or the same one resumed under a changed policy.
pub(crate) fn chain(draw: &mut Draw) -> Vec<Link> {
    let mut policy: Vec<GrantLayer> =
        (0..=draw.below(2)).map(|number| draw.layer(format!("policy {number}"))).collect();
    let mut links = vec![Link::new(Grant { layers: policy.clone() }, Step::Root)];
    for depth in 1..=draw.below(MAX_DEPTH + 1) {
        let last = &links[links.len() - 1].grant;
        // Now and then an agent's layer repeats a layer of the policy.
        let layer = match draw.below(8) {
            0 => policy[draw.below(policy.len() as u64) as usize].clone(),
            _ => draw.layer(format!("agent at depth {depth}")),
        };
        let child = narrow(last, layer.clone());
        links.push(Link::new(child, Step::Narrowed(layer)));
        if draw.once_in(3) {
            change(draw, &mut policy);
            let stored = &links[links.len() - 1].grant;
            let read: Grant = serde_json::from_str(&serde_json::to_string(stored).unwrap()).unwrap();
            links.push(Link::new(intersect(&read, &policy), Step::Resumed(policy.clone())));
        }
    }
    links
}

/// Tightens or loosens the policy, or leaves it as it was.
fn change(draw: &mut Draw, policy: &mut Vec<GrantLayer>) {
    let index = draw.below(policy.len() as u64) as usize;
    match draw.below(8) {
        0 => policy[index].deny.push(draw.rule()),
        1 => policy[index].deny.clear(),
        2 => policy[index].mode = draw.mode(),
        3 => policy.push(draw.layer("policy added".to_owned())),
        4 => policy[index].tools = None,
        5 => policy.reverse(),
        6 => policy.truncate(index.max(1)),
        _ => {}
    }
}
