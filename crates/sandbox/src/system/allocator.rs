//! The memory allocator of this process: few arenas, whose free memory can be returned to the system.
//!
//! The allocator keeps freed memory in each of its arenas for good. A long-lived process would hold the memory of its
//! busiest moments many times over.

/// Number of arenas. The default is eight per core, with holes in each; simultaneous allocations of an agent's threads
/// need no more than these.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: libc::c_int = 4;

/// Makes all threads share a few arenas. Must be called while there is only one thread; allocators other than glibc's
/// have no arenas.
#[cfg_attr(all(target_os = "linux", target_env = "gnu"), expect(unsafe_code, reason = "only the C library can do it"))]
pub fn share_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets a number inside the allocator.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

/// Returns free memory to the system. It takes a few milliseconds; allocators other than glibc's do it by themselves.
#[cfg_attr(all(target_os = "linux", target_env = "gnu"), expect(unsafe_code, reason = "only the C library can do it"))]
pub fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches only the allocator's own free memory, under the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn memory_freed_between_live_blocks_goes_back_to_the_system() {
        let resident_kilobytes = || -> u64 {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
            line.trim().trim_end_matches(" kB").parse().unwrap()
        };
        // Too small to be mapped individually.
        let mut pieces: Vec<Option<Vec<u8>>> = (0..1000).map(|_| Some(vec![1; 100_000])).collect();
        for (number, piece) in pieces.iter_mut().enumerate() {
            if number % 10 != 0 {
                *piece = None;
            }
        }
        let before = resident_kilobytes();
        give_memory_back();
        let after = resident_kilobytes();
        assert!(after + 60_000 < before, "{before} kB, then {after} kB, with {} pieces", pieces.len());
    }
}
