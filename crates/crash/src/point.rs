//! Place at which the process may be killed.

/// Does nothing, except in a build with `--cfg sortie_crash`.
#[cfg(not(sortie_crash))]
#[inline]
pub const fn point(_name: &str) {}

/// Kills the process if `CRASH_OF_SORTIE` is `name:N` and this is the Nth passing of that name. The signal can be
/// neither caught nor cleaned up after.
#[cfg(sortie_crash)]
pub fn point(name: &str) {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    static CHOSEN: LazyLock<Option<(String, u64)>> = LazyLock::new(|| {
        let chosen = std::env::var("CRASH_OF_SORTIE").ok()?;
        let (name, passing) = chosen.split_once(':')?;
        Some((name.to_owned(), passing.parse().ok()?))
    });
    static PASSED: AtomicU64 = AtomicU64::new(0);

    let Some((chosen, passing)) = &*CHOSEN else { return };
    if chosen == name && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == *passing {
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).ok();
        // The signal may reach another thread first. Nothing may happen after this point.
        loop {
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_that_is_not_chosen_is_passed() {
        point("no point has this name");
    }
}
