//! Switch for removing a guard.

/// Name of the variable with the removed guard.
#[cfg(sortie_mutants)]
const VARIABLE: &str = "MUTANT_OF_SORTIE";

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

    static NAMED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(VARIABLE).ok());
    NAMED.as_deref() == Some(guard)
}

/// The variable that removes this guard in another process of the program, which is started without variables. `None`
/// except in a build with `--cfg sortie_mutants`.
#[cfg(not(sortie_mutants))]
#[inline]
pub const fn passed_on() -> Option<(&'static str, String)> {
    None
}

/// The variable that removes the same guard in another process of the program, which is started without variables.
#[cfg(sortie_mutants)]
pub fn passed_on() -> Option<(&'static str, String)> {
    std::env::var(VARIABLE).ok().map(|guard| (VARIABLE, guard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_is_in_place_unless_it_is_named() {
        assert!(!is_out("no guard has this name"));
        assert_eq!(passed_on(), None);
    }
}
