//! The value in an answer.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_schema::{Schema, Unfit};

fn find(text: &str) -> Result<Value, Unfit> {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    Schema::read(&schema).expect("it can be used").find(text)
}

#[test]
fn words_and_fences_around_the_value_do_no_harm() {
    for text in [
        r#"{"n": 1}"#,
        "\n {\"n\":\n1}\n\n",
        "```json\n{\"n\": 1}\n```",
        "Here it is:\n\n```\n{\"n\": 1}\n```\nAll of it, as in [the docs](https://example.com) [1].",
        r#"The answer {as asked} is {"n": 1}."#,
        r#"First {"m": 2}, which is wrong; then {"n": 1}."#,
        r#"{"n": 1} is the same as {"n": 1}"#,
        r#"A set {1, 2} and [a list]: {"n": 1}"#,
    ] {
        assert_eq!(find(text), Ok(json!({"n": 1})), "{text}");
    }
}

#[test]
fn the_whole_answer_may_be_any_value() {
    for (schema, text, value) in [
        (json!({"type": "string"}), r#""yes""#, json!("yes")),
        (json!({"type": "integer"}), " 42\n", json!(42)),
        (json!({"type": "array"}), "[1]", json!([1])),
        (json!({"type": "null"}), "null", json!(null)),
    ] {
        assert_eq!(Schema::read(&schema).unwrap().find(text), Ok(value), "{text}");
    }
}

#[test]
fn problems_are_named() {
    let told = |text: &str| find(text).unwrap_err().to_string();
    expect!["it has no JSON value (expected value at line 1 column 1)"].assert_eq(&told("Nothing was found."));
    expect!["it has no JSON value (EOF while parsing a value at line 1 column 0)"].assert_eq(&told(""));
    expect![[r#"`/n` must be a whole number, not "1""#]].assert_eq(&told(r#"{"n": "1"}"#));
    expect!["the value must be an object, not an array"].assert_eq(&told(r#"[{"n": 1}]"#));
    expect!["it has 2 JSON values that fit, and must have one"].assert_eq(&told(r#"{"n": 1} or {"n": 2}"#));
    expect!["it has no JSON value (EOF while parsing an object at line 1 column 14)"]
        .assert_eq(&told(r#"Here: {"a": {"n": 1}"#));
}

#[test]
fn a_value_nested_in_a_broken_one_is_not_the_answer() {
    for text in [
        r#"{"results": {"n": 1}, oops}"#,
        r#"{"list": [1, 2,], "inner": {"n": 1}}"#,
        "```json\n{\n  \"inner\": {\"n\": 1}\n",
        r#"[{"n": 1}, oops]"#,
        r#"[[1, {"n": 1}, oops]]"#,
    ] {
        assert!(matches!(find(text), Err(Unfit::NoValue { .. })), "{text}: {:?}", find(text));
    }
}

#[test]
fn a_whole_number_that_parsing_would_change_is_refused() {
    let inexact = [
        "123456789012345678901234567890",
        "-9223372036854775809",
        "18446744073709551617",
        "123456789012345678901234567890.0",
        "1.23456789012345678901e25",
    ];
    for number in inexact {
        for text in
            [format!(r#"{{"n": {number}}}"#), format!(r#"It is {{"n": 1, "list": ["1", {{"\"a": {number}}}]}}."#)]
        {
            assert_eq!(find(&text), Err(Unfit::Inexact { number: number.to_owned() }), "{text}");
        }
    }
    let told = find(r#"{"n": 123456789012345678901234567890}"#).unwrap_err().to_string();
    expect!["it has the whole number 123456789012345678901234567890, which cannot be kept exactly; those up to 18446744073709551615 can"].assert_eq(&told);
    let long = find(&format!(r#"{{"n": {}1}}"#, "1234567890".repeat(30))).unwrap_err().to_string();
    assert!(long.len() < 200, "{long}");
}

#[test]
fn exact_numbers_fit_in_any_notation() {
    let exact = [
        "18446744073709551615",
        "-9223372036854775808",
        "-0",
        "0e5",
        "1e23",
        "1E+22",
        "51090942171709440000",
        "2.50e1",
    ];
    for number in exact {
        let found = find(&format!(r#"{{"n": {number}, "text": "123456789012345678901234567890 \\"}}"#));
        assert!(found.is_ok(), "{number}: {found:?}");
    }
    let fraction = find(r#"{"n": 1, "share": 0.333333333333333333333333333333}"#);
    assert!(fraction.is_ok(), "fractions are rounded: {fraction:?}");
}
