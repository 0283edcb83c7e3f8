//! Authority only shrinks: random rules, trees up to five deep, resumes and changes of policy in between, each decision
//! compared with the parent's and with a second opinion that was made another way.
//!
//! A case is one call, decided at every task of one chain. `SORTIE_CASES` says how many (a million unless said
//! otherwise); `SORTIE_SEED` replays a chain that failed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use sortie_policy::{Decision, Judge, intersect, narrow};
use sortie_protocol::{Grant, GrantLayer, Mode, Resource};

use super::draw::Draw;
use super::oracle;
use super::support::{READING, TOOLS, Verdict, agent, command, host, path, places};

const CASES: u64 = 1_000_000;
const CALLS_PER_CHAIN: u64 = 20;
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
const PATHS: [&str; 26] = [
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
const HOSTS: [&str; 8] = [
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

/// What the cases are drawn from.
trait DrawCase {
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
            _ => self.one_of(&["LS", "Glob", "Grep", "Write", "MultiEdit", "TodoWrite", "SendMessage", "TaskOutput"]),
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

    /// Most layers say little, as in life, so that most calls get past some of them.
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

/// How one grant came from the one before.
enum Step {
    /// The first one.
    Root,
    /// A child with this layer.
    Narrowed(GrantLayer),
    /// The same task, resumed under these layers.
    Resumed(Vec<GrantLayer>),
}

struct Link {
    grant: Grant,
    judge: Judge,
    step: Step,
}

impl Link {
    fn new(grant: Grant, step: Step) -> Self {
        let judge = Judge::new(&grant, places()).expect("drawn rules can be read");
        Self { grant, judge, step }
    }
}

/// A chain of tasks: each the child of the one before, or the same one resumed under a policy that has changed.
fn chain(draw: &mut Draw) -> Vec<Link> {
    let mut policy: Vec<GrantLayer> =
        (0..=draw.below(2)).map(|number| draw.layer(format!("policy {number}"))).collect();
    let mut links = vec![Link::new(Grant { layers: policy.clone() }, Step::Root)];
    for depth in 1..=draw.below(MAX_DEPTH + 1) {
        let last = &links[links.len() - 1].grant;
        // Now and then an agent's layer says just what a layer of the policy says.
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

/// Checks one call at every link; returns what was decided.
fn check_call(links: &[Link], tool: &str, resource: &Resource) -> Vec<Verdict> {
    let reads = READING.contains(&tool);
    let mut verdicts: Vec<Verdict> = Vec::with_capacity(links.len());
    for link in links {
        let decision = link.judge.decide(tool, resource);
        let verdict = Verdict::from(&decision);
        let context = || format!("{tool} {resource:?} under {:#?}", link.grant);
        assert_eq!(
            verdict,
            oracle::decide(&link.grant.layers, tool, resource),
            "the two opinions differ: {}",
            context()
        );
        if verdict != Verdict::Deny {
            assert!(link.judge.admits_some(tool), "not offered, yet not denied: {}", context());
        }
        if let Some(before) = verdicts.last() {
            match &link.step {
                Step::Narrowed(layer) => {
                    let approved =
                        reads && layer.approves_reads && *before == Verdict::Ask && verdict == Verdict::Allow;
                    assert!(verdict >= *before || approved, "a child may more than its parent: {}", context());
                }
                Step::Resumed(policy) => {
                    assert!(verdict >= *before, "resuming widens: {}", context());
                    let now = oracle::decide(policy, tool, resource);
                    let approved = reads && now == Verdict::Ask && verdict == Verdict::Allow;
                    assert!(verdict >= now || approved, "a resumed task may more than today's policy: {}", context());
                }
                Step::Root => {}
            }
        }
        verdicts.push(verdict);
    }
    verdicts
}

/// Following a refusal's advice must help.
fn check_remedy(link: &Link, tool: &str, resource: &Resource) {
    let Decision::Ask(ground) = link.judge.decide(tool, resource) else { return };
    let Some(remedy) = ground.remedy else { return };
    let mut grant = link.grant.clone();
    for layer in grant.layers.iter_mut().filter(|layer| layer.owner == ground.owner || layer.shares_allow) {
        layer.allow.push(remedy.clone());
    }
    let decision = Judge::new(&grant, places()).unwrap().decide(tool, resource);
    assert_eq!(decision, Decision::Allow, "`{remedy}` does not help {tool} {resource:?} under {grant:#?}");
}

/// Where no rule tells files apart, all files must be alike to every reading tool.
fn check_reads(link: &Link) {
    if link.judge.guards_reads() {
        return;
    }
    for tool in READING {
        let mut verdicts = PATHS
            .iter()
            .filter(|path| !path.contains(".."))
            .map(|file| Verdict::from(&link.judge.decide(tool, &path(file))));
        let first = verdicts.next();
        assert!(verdicts.all(|verdict| Some(verdict) == first), "{tool} tells files apart under {:#?}", link.grant);
    }
}

/// How often each verdict came up at the ends of chains.
fn run(seed: u64) -> [u64; 3] {
    let mut draw = Draw(seed);
    let links = chain(&mut draw);
    let mut seen = [0; 3];
    for _ in 0..CALLS_PER_CHAIN {
        let (tool, resource) = draw.call();
        let verdicts = check_call(&links, tool, &resource);
        seen[verdicts[verdicts.len() - 1] as usize] += 1;
        if draw.once_in(16) {
            check_remedy(&links[draw.below(links.len() as u64) as usize], tool, &resource);
        }
    }
    if draw.once_in(8) {
        check_reads(&links[links.len() - 1]);
    }
    seen
}

#[test]
fn a_child_never_may_what_its_parent_may_not() {
    // S49
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    if let Some(seed) = number("SORTIE_SEED") {
        run(seed);
        return;
    }
    let chains = number("SORTIE_CASES").unwrap_or(CASES).div_ceil(CALLS_PER_CHAIN);
    let seen = [const { AtomicU64::new(0) }; 3];
    let next = AtomicU64::new(0);
    let work = || loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        if index >= chains {
            return;
        }
        // Neighbouring seeds would draw the same numbers, one step apart.
        let seed = Draw(index).number();
        match catch_unwind(AssertUnwindSafe(|| run(seed))) {
            Ok(counts) => seen.iter().zip(counts).for_each(|(all, count)| _ = all.fetch_add(count, Ordering::Relaxed)),
            Err(panic) => {
                eprintln!("replay this chain with SORTIE_SEED={seed}");
                next.store(chains, Ordering::Relaxed);
                resume_unwind(panic);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    // A test in which everything is denied would prove nothing.
    let [allowed, asked, denied] = seen.map(AtomicU64::into_inner);
    let all = allowed + asked + denied;
    assert_eq!(all, chains * CALLS_PER_CHAIN);
    for (verdict, count) in [("allowed", allowed), ("asked about", asked), ("denied", denied)] {
        assert!(count * 20 > all, "only {count} of {all} calls were {verdict}");
    }
}
