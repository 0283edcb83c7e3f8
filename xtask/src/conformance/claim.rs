//! The statements that a test checks: its name carries their ids.

/// The ids in a test's name: `s2::a_result_s2_35_s2_43` checks S2-35 and S2-43.
pub(super) fn ids(test: &str) -> Vec<String> {
    let words: Vec<&str> = test.split("::").flat_map(|part| part.split('_')).collect();
    words.windows(2).filter_map(|pair| id(pair[0], pair[1])).collect()
}

fn id(design: &str, number: &str) -> Option<String> {
    let known = design == "p" || matches!(design.as_bytes(), [b's', b'0'..=b'9']);
    let numbered = number.len() == 2 && number.bytes().all(|byte| byte.is_ascii_digit());
    (known && numbered).then(|| format!("{}-{number}", design.to_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_anywhere_in_a_name() {
        assert_eq!(ids("s2::s2_35_s2_43_the_result_has_four_fields"), ["S2-35", "S2-43"]);
        assert_eq!(ids("protocol::validator::all_results_are_objects_p_01"), ["P-01"]);
    }

    #[test]
    fn a_word_that_only_resembles_an_id_is_not_a_claim() {
        for name in ["s2::both_wires", "s2::s2_3_is_short", "a::step_09", "a::s2_350", "a::pages_01"] {
            assert_eq!(ids(name), Vec::<String>::new(), "{name}");
        }
    }
}
