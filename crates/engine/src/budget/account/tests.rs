use proptest::prelude::*;
use sortie_llm::catalogue::Prices;
use sortie_protocol::Money;

use super::*;
use crate::budget::account::aside::Rest;

const PRICES: Prices = Prices { input: Some(3.0), output: Some(15.0), cache_read: Some(0.3), cache_write: Some(3.75) };

fn children(max_children: Option<u32>) -> Limits {
    Limits { max_children, ..Limits::default() }
}

fn tokens(max_tokens: u64) -> Limits {
    Limits { max_tokens: Some(max_tokens), ..Limits::default() }
}

fn bid(input_tokens: u64, max_output: u64) -> Bid {
    Bid { input_tokens, max_output, prices: PRICES, is_report: false }
}

fn used(input_tokens: u64) -> Usage {
    Usage { input_tokens, ..Usage::default() }
}

#[test]
fn children_of_a_branch_count_against_every_ancestor() {
    let root = Account::of_root(children(Some(3)));
    let branch = Account::below(&root, children(Some(2)));
    let leaf = Account::below(&branch, children(None));
    assert!(leaf.admit_child().is_ok());
    assert!(branch.admit_child().is_ok());
    assert!(leaf.admit_child().is_err(), "the branch has had its two");
    assert!(root.admit_child().is_ok(), "the refused one was not counted at the root");
    assert!(root.admit_child().is_err(), "the root has had its three");
    leaf.take_back_child();
    assert!(branch.admit_child().is_ok(), "one was not started");
    assert!(root.admit_child().is_err());
}

#[test]
fn nothing_is_reserved_without_a_limit() {
    let root = Account::of_root(Limits::default());
    let lease = root.bid(&bid(1_000_000, 1_000_000)).unwrap_or_else(|_| panic!("there is no limit"));
    assert_eq!((lease.reserved(), lease.max_output(), lease.short_of()), (Usage::default(), None, None));
    lease.settle(used(7));
    assert_eq!(root.spent().input_tokens, 7);
}

#[tokio::test]
async fn a_loan_holds_all_that_is_left_until_it_is_settled() {
    let root = Account::of_root(tokens(1000));
    let (one, other) = (Account::below(&root, Limits::default()), Account::below(&root, tokens(900)));
    root.spend(used(200));
    let lease = one.lend().await.unwrap_or_else(|limit| panic!("{limit}"));
    assert_eq!(lease.lent(), tokens(800));
    assert!(matches!(other.loan(), Err(Short::Held)), "nobody else has any of it meanwhile");
    lease.settle(used(300));
    assert_eq!(root.spent().input_tokens, 500);
    let lease = other.lend().await.unwrap_or_else(|limit| panic!("{limit}"));
    assert_eq!(lease.lent(), tokens(500));
    drop(lease);
    assert_eq!(root.spent().input_tokens, 1000, "without figures, all of it counts as used");
    assert!(matches!(one.lend().await, Err(Limit::Tokens)));
    let unlimited = Account::of_root(Limits::default());
    let lease = unlimited.lend().await.unwrap_or_else(|limit| panic!("{limit}"));
    assert_eq!(lease.lent(), Limits::default());
}

/// Returns the result of a bid: the cap on the reply, and the limit behind it.
fn got(account: &Arc<Account>, bid: &Bid) -> Result<(Option<u64>, Option<Limit>), Short> {
    account.bid(bid).map(|lease| {
        let got = (lease.max_output(), lease.short_of());
        lease.settle(Usage::default());
        got
    })
}

#[test]
fn the_cap_on_a_reply_leaves_enough_for_the_report() {
    let root = Account::of_root(tokens(10_000));
    // The report reads what the call read and a little more, and may write 1,024.
    let aside = |input: u64| input + 256 + 1024;
    assert_eq!(got(&root, &bid(1000, 4000)), Ok((Some(4000), None)));
    assert_eq!(got(&root, &bid(3000, 4000)), Ok((Some(10_000 - 3000 - aside(3000)), Some(Limit::Tokens))));
    assert_eq!(got(&root, &bid(4200, 4000)), Ok((Some(10_000 - 4200 - aside(4200)), Some(Limit::Tokens))));
    assert_eq!(got(&root, &bid(4300, 4000)), Err(Short::OverLimit(Limit::Tokens)), "a reply of 120 tokens is none");
    let report = Bid { is_report: true, ..bid(4300, 4000) };
    assert_eq!(got(&root, &report), Ok((Some(4000), None)), "what was set aside is for the report");
}

#[test]
fn money_is_reserved_at_the_price_of_the_dearest_input() {
    let limits = Limits { max_cost: Money::from_dollars(0.01), ..Limits::default() };
    let root = Account::of_root(limits);
    let report = |input| Bid { is_report: true, ..bid(input, 4000) };
    // A thousand tokens written to the cache cost $0.00375; the rest buys 416 of output.
    assert_eq!(got(&root, &report(1000)), Ok((Some(416), Some(Limit::Cost))));
    assert_eq!(got(&root, &report(2000)), Err(Short::OverLimit(Limit::Cost)));
}

#[test]
fn a_bid_waits_for_what_others_hold() {
    let root = Account::of_root(tokens(10_000));
    let (one, other) = (Account::below(&root, Limits::default()), Account::below(&root, Limits::default()));
    let held = one.bid(&bid(2000, 4000)).unwrap_or_else(|_| panic!("all of it is free"));
    assert_eq!(other.bid(&bid(2000, 4000)).err(), Some(Short::Held));
    held.settle(used(4000));
    drop(one.open());
    let second = other.bid(&bid(2000, 4000)).unwrap_or_else(|_| panic!("some was given back"));
    assert_eq!((second.max_output(), second.short_of()), (Some(10_000 - 4000 - 2000 - 3280), Some(Limit::Tokens)));
    second.settle(used(2700));
    drop(other.open());
    assert_eq!(one.bid(&bid(2000, 4000)).err(), Some(Short::OverLimit(Limit::Tokens)), "nobody holds anything");
}

#[test]
fn a_reply_is_not_cut_short_for_what_others_hold_briefly() {
    let root = Account::of_root(tokens(30_000));
    let held: Vec<Lease> = [16_000, 5_000]
        .map(|most| Account::below(&root, Limits::default()).bid(&bid(1000, most)))
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(held.len(), 2);
    let third = Account::below(&root, Limits::default());
    let asked = bid(1000, 16_000);
    assert_eq!(third.bid(&asked).err(), Some(Short::Held), "3,720 tokens would be left for it");
    for lease in held {
        lease.settle(used(1500));
    }
    assert_eq!(got(&third, &asked), Ok((Some(16_000), None)));
}

#[test]
fn a_dropped_lease_counts_as_fully_used() {
    let root = Account::of_root(tokens(10_000));
    drop(root.bid(&bid(1000, 500)));
    assert_eq!(root.spent().total_tokens(), 1500);
    assert_eq!(root.spent().cost, Money::from_nanos(1000 * 3750 + 500 * 15_000));
}

#[test]
fn children_leave_their_parent_enough_for_its_report() {
    let root = Account::of_root(tokens(10_000));
    root.bid(&bid(3000, 1000)).unwrap_or_else(|_| panic!("it is the first")).settle(used(3000));
    let child = Account::below(&root, Limits::default());
    assert_eq!(child.bid(&bid(600, 1000)).err(), Some(Short::OverLimit(Limit::Tokens)), "with a report of its own");
    assert!(child.bid(&bid(500, 1000)).is_ok());
}

#[test]
fn siblings_leave_a_child_enough_for_its_report() {
    let root = Account::of_root(tokens(10_000));
    let [one, other] = [(); 2].map(|()| Account::below(&root, Limits::default()));
    let open = one.open();
    one.bid(&bid(2000, 500)).unwrap_or_else(|_| panic!("it is the first")).settle(used(2500));
    // 2,500 are spent, and 3,280 set aside.
    assert_eq!(other.bid(&bid(2000, 500)).err(), Some(Short::Held), "the first one may end without a report");
    let rest = one.rest();
    assert_eq!(
        other.bid(&bid(2000, 500)).err(),
        Some(Short::OverLimit(Limit::Tokens)),
        "it waits, perhaps for this one"
    );
    assert!(got(&other, &bid(1000, 500)).is_ok());
    drop(other.open());
    drop(rest);
    let report = Bid { is_report: true, ..bid(2256, 1024) };
    assert_eq!(got(&one, &report), Ok((Some(1024), None)));
    drop(open);
    assert!(got(&other, &bid(2500, 500)).is_ok(), "who has ended leaves nothing aside");
}

#[tokio::test]
async fn two_tasks_never_deadlock_on_the_amounts_for_their_reports() {
    let root = Account::of_root(tokens(13_000));
    let [one, other] = [(); 2].map(|()| Account::below(&root, Limits::default()));
    let (open, other_open) = (one.open(), other.open());
    for child in [&one, &other] {
        child.bid(&bid(1500, 500)).unwrap_or_else(|_| panic!("there is room")).settle(used(2000));
    }
    // 4,000 are spent, and 2,780 set aside twice.
    let mut first = std::pin::pin!(one.reserve(bid(2500, 500)));
    assert!(futures_util::poll!(first.as_mut()).is_pending(), "the other one is at work");
    let mut second = std::pin::pin!(other.reserve(bid(2500, 500)));
    assert!(futures_util::poll!(second.as_mut()).is_ready(), "nobody is left to wait for");
    assert!(futures_util::poll!(first.as_mut()).is_pending(), "the other one writes its report");
    let report = Bid { is_report: true, ..bid(1756, 1024) };
    other.bid(&report).unwrap_or_else(|_| panic!("it was set aside")).settle(used(2000));
    drop(other_open);
    assert!(first.await.is_ok_and(|lease| lease.max_output() == Some(500)));
    drop(open);
}

/// One step in the life of a task.
#[derive(Debug, Clone)]
enum Step {
    Bid {
        who: usize,
        input: u64,
        output: u64,
        is_report: bool,
    },
    /// Uses this many thousandths of the reservation.
    Settle {
        which: usize,
        thousandths: u64,
    },
    Drop {
        which: usize,
    },
    /// Begins or stops waiting for others.
    Rest {
        who: usize,
    },
    End {
        who: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..7_usize, 0..3000_u64, 1..3000_u64, proptest::bool::weighted(0.2))
            .prop_map(|(who, input, output, is_report)| Step::Bid { who, input, output, is_report }),
        2 => (0..20_usize, 0..=1000_u64).prop_map(|(which, thousandths)| Step::Settle { which, thousandths }),
        1 => (0..20_usize).prop_map(|which| Step::Drop { which }),
        1 => (0..7_usize).prop_map(|who| Step::Rest { who }),
        1 => (0..7_usize).prop_map(|who| Step::End { who }),
    ]
}

fn share(reserved: Usage, thousandths: u64) -> Usage {
    let part = |tokens: u64| tokens * thousandths / 1000;
    PRICES.priced(Usage {
        input_tokens: part(reserved.input_tokens),
        cache_write_tokens: part(reserved.cache_write_tokens),
        output_tokens: part(reserved.output_tokens),
        ..Usage::default()
    })
}

proptest! {
    /// A root, two branches with limits of their own, and four leaves bid, settle and vanish in any order. No limit is
    /// ever passed, each report's amount is there, and in the end nothing is held without an owner.
    #[test]
    fn no_interleaving_overspends_and_nothing_leaks(
        steps in proptest::collection::vec(step(), 1..200),
        maxima in proptest::array::uniform3((1000..30_000_u64, 1..100_u64)),
    ) {
        let limits = maxima.map(|(tokens, cents)| Limits {
            max_tokens: Some(tokens),
            max_cost: Some(Money::from_nanos(cents * 10_000_000)),
            ..Limits::default()
        });
        let root = Account::of_root(limits[0]);
        let branches = [Account::below(&root, limits[1]), Account::below(&root, limits[2])];
        let leaves = [0, 0, 1, 1].map(|branch: usize| Account::below(&branches[branch], Limits::default()));
        let all: Vec<_> = [&root].into_iter().chain(&branches).chain(&leaves).cloned().collect();
        let mut leases: Vec<Lease> = Vec::new();
        let mut rests: [Option<Rest>; 7] = Default::default();
        let mut booked = 0;
        for step in steps {
            match step {
                Step::Bid { who, input, output, is_report } => {
                    leases.extend(all[who].bid(&Bid { is_report, ..bid(input, output) }));
                }
                Step::Settle { which, thousandths } if which < leases.len() => {
                    let lease = leases.swap_remove(which);
                    let usage = share(lease.reserved(), thousandths);
                    booked += usage.total_tokens();
                    lease.settle(usage);
                }
                Step::Drop { which } if which < leases.len() => {
                    booked += leases.swap_remove(which).reserved().total_tokens();
                }
                Step::Settle { .. } | Step::Drop { .. } => {}
                Step::Rest { who } => rests[who] = if rests[who].is_some() { None } else { Some(all[who].rest()) },
                Step::End { who } => drop(all[who].open()),
            }
            for account in &all {
                let Stand { limits, fixed, passing } = account.stand();
                let used = fixed.plus(passing);
                prop_assert!(limits.max_tokens.is_none_or(|max| used.tokens <= max));
                prop_assert!(limits.max_cost.is_none_or(|max| used.cost <= max));
            }
        }
        booked += leases.iter().map(|lease| lease.reserved().total_tokens()).sum::<u64>();
        drop((leases, rests));
        for account in &all {
            drop(account.open());
        }
        prop_assert_eq!(root.spent().total_tokens(), booked);
        for account in &all {
            let Stand { fixed, passing, .. } = account.stand();
            prop_assert_eq!((fixed, passing), (Amount::from(account.spent()), Amount::default()));
        }
    }
}
