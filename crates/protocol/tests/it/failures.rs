//! Failure codes: stable names on the wire and in the journal.

use sortie_protocol::{Failure, FailureCode, Limit};

#[test]
fn a_code_is_written_by_its_name_and_read_back() {
    for (code, name) in [
        (FailureCode::InvalidArguments, "invalid_arguments"),
        (FailureCode::Vetoed, "vetoed"),
        (FailureCode::RateLimited, "rate_limited"),
        (FailureCode::ModelStreamCut, "model_stream_cut"),
        (FailureCode::Limit(Limit::Turns), "limit_turns"),
        (FailureCode::Limit(Limit::Loop), "limit_loop"),
        (FailureCode::Limit(Limit::NoAnswer), "limit_no_answer"),
    ] {
        let failure = Failure::new(code, "what to do next");
        let written = serde_json::to_string(&failure).expect("it is plain data");
        assert_eq!(written, format!(r#"{{"code":"{name}","message":"what to do next"}}"#));
        assert_eq!(serde_json::from_str::<Failure>(&written).expect("it is what was written"), failure);
    }
}

#[test]
fn a_code_of_another_version_is_kept_as_it_was_written() {
    let written = r#"{"code":"of_next_year","message":"m"}"#;
    let failure: Failure = serde_json::from_str(written).expect("any code can be read");
    assert_eq!(failure.code.as_str(), "of_next_year");
    assert_eq!(serde_json::to_string(&failure).expect("it is plain data"), written);
}
