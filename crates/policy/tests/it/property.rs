//! Authority only shrinks: in random trees of tasks, each decision is compared with the parent's and with a second
//! implementation.
//!
//! A case is one call, decided for every task of one chain. `SORTIE_CASES` sets the number of cases (default one
//! million); `SORTIE_SEED` replays a chain that failed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use sortie_policy::{Decision, Judge};
use sortie_protocol::Resource;

use super::cases::{DrawCase, Link, PATHS, Step, chain};
use super::draw::Draw;
use super::oracle;
use super::support::{READING, Verdict, path, places};

const CASES: u64 = 1_000_000;
const CALLS_PER_CHAIN: u64 = 20;

/// Reads a number from the environment.
pub(super) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// The share of `all` that the environment asks for.
pub(super) fn share_of_cases(all: u64) -> u64 {
    number("SORTIE_CASES").map_or(all, |cases| (all * cases).div_ceil(CASES))
}

/// Checks one call at every link and returns the verdicts.
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
        // If no command can run, the tools for background commands are harmless and useless.
        let is_of_use = !["BashOutput", "KillShell"].contains(&tool) || link.judge.admits_some("Bash");
        if verdict != Verdict::Deny && is_of_use {
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

/// Checks that following a refusal's advice helps.
fn check_remedy(link: &Link, tool: &str, resource: &Resource) {
    let Decision::Ask(ground) = link.judge.decide(tool, resource) else { return };
    if ground.remedies.is_empty() {
        return;
    }
    let mut grant = link.grant.clone();
    for layer in grant.layers.iter_mut().filter(|layer| layer.owner == ground.owner || layer.shares_allow) {
        layer.allow.extend(ground.remedies.clone());
    }
    let decision = Judge::new(&grant, places()).unwrap().decide(tool, resource);
    assert_eq!(decision, Decision::Allow, "{:?} does not help {tool} {resource:?} under {grant:#?}", ground.remedies);
}

/// Checks that every reading tool treats all files alike if no rule distinguishes files.
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

/// Counts each verdict at the ends of chains.
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
fn a_child_can_never_do_what_its_parent_may_not() {
    // S49
    if let Some(seed) = number("SORTIE_SEED") {
        run(seed);
        return;
    }
    let chains = share_of_cases(CASES.div_ceil(CALLS_PER_CHAIN));
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
    // If everything were denied, the test would prove nothing.
    let [allowed, asked, denied] = seen.map(AtomicU64::into_inner);
    let all = allowed + asked + denied;
    assert_eq!(all, chains * CALLS_PER_CHAIN);
    for (verdict, count) in [("allowed", allowed), ("asked about", asked), ("denied", denied)] {
        assert!(count * 20 > all, "only {count} of {all} calls were {verdict}");
    }
}
