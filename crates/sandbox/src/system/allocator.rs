//! The memory allocator of this process: few arenas, whose free memory can be given back to the system.
//!
//! The allocator keeps what was freed, for each of its arenas and for good, so that a process that lives long holds
//! what its busiest moments needed, many times over.

/// Arenas of the allocator. It would make eight for each core, and holes in each; what the threads of an agent allocate
/// at the same time needs no more than these.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: libc::c_int = 4;

/// Has all threads share a few arenas. To be called before there are others than the first; other allocators than
/// glibc's have none.
#[cfg_attr(all(target_os = "linux", target_env = "gnu"), expect(unsafe_code, reason = "only the C library can do it"))]
pub fn share_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it sets a number of the allocator's own.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, ARENAS);
    }
}

/// Gives back to the system what is free. It takes a few milliseconds; other allocators than glibc's do it by
/// themselves.
#[cfg_attr(all(target_os = "linux", target_env = "gnu"), expect(unsafe_code, reason = "only the C library can do it"))]
pub fn give_memory_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it touches nothing but the allocator's own free memory, under the allocator's own locks.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_freed_between_what_is_kept_goes_back_to_the_system() {
        let resident_kilobytes = || -> u64 {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
            line.trim().trim_end_matches(" kB").parse().unwrap()
        };
        // Too small to be mapped each by itself.
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
