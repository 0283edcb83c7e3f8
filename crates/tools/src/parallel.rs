//! Many small pieces of work on a few threads, with the results in the order of the pieces.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const MAX_THREADS: usize = 4;
/// Fewer pieces than this are done faster than a thread is started.
const MIN_PIECES: usize = 8;

/// Does `work` on `items`, taken in order, until all are done or `enough` says so. Each thread has a `state` of its own.
///
/// Every item before the last one taken is done, so that "enough" results are always those of a prefix of the items.
pub(crate) fn in_order<T, S, R>(
    items: &[T],
    enough: impl Fn() -> bool + Sync,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R>
where
    T: Sync,
    R: Send,
{
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = state();
        let mut results = Vec::new();
        while !enough() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            results.push((at, work(&mut state, item)));
        }
        results
    };
    let n_threads = if items.len() < MIN_PIECES { 1 } else { threads() };
    let mut results = thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|&(at, _)| at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).clamp(2, MAX_THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        assert_eq!(
            in_order(&items, || false, || (), |(), item| item * 2),
            items.iter().map(|i| i * 2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn what_was_enough_is_a_prefix_of_the_items() {
        let items: Vec<usize> = (0..100_000).collect();
        let done = AtomicUsize::new(0);
        let results = in_order(
            &items,
            || done.load(Ordering::Relaxed) >= 50,
            || (),
            |(), &item| {
                done.fetch_add(1, Ordering::Relaxed);
                item
            },
        );
        assert!(results.len() >= 50 && results.len() < 100);
        assert_eq!(results, (0..results.len()).collect::<Vec<_>>());
    }
}
