//! Parallel work on many small pieces, with the results in piece order.

use std::num::NonZero;
use std::thread;

const MAX_THREADS: usize = 8;

/// Runs `work` on the pieces from `take` until there are none left. Each thread has a `state` of its own.
///
/// `take` numbers the pieces; the results are in the order of the numbers.
pub(crate) fn in_order<S, T, R: Send>(
    n_threads: usize,
    take: impl Fn() -> Option<(usize, T)> + Sync,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, T) -> R + Sync,
) -> Vec<R> {
    let run = || {
        let mut state = state();
        let mut results = Vec::new();
        while let Some((number, piece)) = take() {
            results.push((number, work(&mut state, piece)));
        }
        results
    };
    let mut results = thread::scope(|scope| {
        let others: Vec<_> = (1..n_threads).map(|_| scope.spawn(run)).collect();
        let mut results = run();
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        results
    });
    results.sort_unstable_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The number of threads this machine runs at once, within bounds.
pub(crate) fn threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).clamp(2, MAX_THREADS)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_pieces() {
        let next = AtomicUsize::new(0);
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < 1000).map(|n| (n, n));
        let doubled = in_order(4, take, || (), |(), n| n * 2);
        assert_eq!(doubled, (0..1000).map(|n| n * 2).collect::<Vec<_>>());
    }
}
