//! Switch for removing a guard.

/// True if the named guard is removed: never, except in a build with `--cfg sortie_mutants`.
#[cfg(not(sortie_mutants))]
#[inline]
pub const fn is_out(_guard: &str) -> bool {
    false
}

/// True if the named guard is removed: the one in `MUTANT_OF_SORTIE`.
#[cfg(sortie_mutants)]
pub fn is_out(guard: &str) -> bool {
    use std::sync::LazyLock;

    static NAMED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("MUTANT_OF_SORTIE").ok());
    NAMED.as_deref() == Some(guard)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_is_in_place_unless_it_is_named() {
        assert!(!is_out("no guard has this name"));
    }
}
