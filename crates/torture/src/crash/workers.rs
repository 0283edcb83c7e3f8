//! Several runs at once: most of the time of each goes by waiting.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};

/// Runs for each processor.
const PER_PROCESSOR: usize = 2;

/// Does all jobs. After a bad one no other is begun.
pub(super) fn all_good<J: Send>(
    jobs: impl Iterator<Item = J> + Send,
    job: impl Fn(J) -> Result<bool> + Sync,
) -> Result<bool> {
    let jobs = Mutex::new(jobs);
    let good = AtomicBool::new(true);
    let work = || -> Result<()> {
        while good.load(Ordering::Relaxed)
            && let Some(next) = locked(&jobs).next()
        {
            let done = job(next);
            if !matches!(done, Ok(true)) {
                good.store(false, Ordering::Relaxed);
            }
            done?;
        }
        Ok(())
    };
    let n_workers = thread::available_parallelism()?.get() * PER_PROCESSOR;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..n_workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().ok().context("a worker panicked").flatten())
    })?;
    Ok(good.into_inner())
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_jobs_run_unless_one_fails() {
        let done = Mutex::new(Vec::new());
        let job = |number| {
            locked(&done).push(number);
            Ok(number != 500)
        };
        assert!(all_good(0..100, job).unwrap());
        assert_eq!(locked(&done).len(), 100);
        assert!(!all_good(500..100_000, job).unwrap());
        assert!(locked(&done).len() < 1000);
    }
}
