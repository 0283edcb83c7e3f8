//! Bounds: no schema and no value makes a check take forever or grow without limit.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_schema::{Schema, SchemaError};

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }))
}

#[test]
fn the_size_and_depth_of_a_schema_are_limited() {
    let long = json!({"description": "x".repeat(33 * 1024)});
    assert!(matches!(Schema::read(&long), Err(SchemaError::TooLarge { .. })));
    assert!(Schema::read(&nested(32)).is_ok());
    assert!(matches!(Schema::read(&nested(33)), Err(SchemaError::TooDeep { .. })));
    let patterns = |count: usize| json!({"allOf": vec![json!({"pattern": "a"}); count]});
    assert!(Schema::read(&patterns(64)).is_ok());
    assert_eq!(Schema::read(&patterns(65)).err(), Some(SchemaError::TooManyPatterns));
    let huge = json!({"pattern": r"(\w{1000}){1000}"});
    assert!(matches!(Schema::read(&huge), Err(SchemaError::Pattern { .. })));
}

#[test]
fn circular_references_are_refused() {
    let told = Schema::read(&json!({"$ref": "#"})).unwrap_err().to_string();
    expect![
        "`$ref` at the top refers back to itself without entering the value; refer from within `properties` or `items`"
    ]
    .assert_eq(&told);
    for schema in [
        json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"oneOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}),
        json!({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"allOf": [{"allOf": [{"$ref": "#/$defs/a"}]}]}}}),
    ] {
        assert!(matches!(Schema::read(&schema), Err(SchemaError::Endless { .. })), "{schema}");
    }
    let into_the_value = json!({"$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}, "allOf": [{"$ref": "#/$defs/a"}]});
    assert!(Schema::read(&into_the_value).is_ok());
}

#[test]
fn exponential_alternatives_are_given_up() {
    let step = |at: usize| {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        (format!("d{at}"), json!({"anyOf": [next.clone(), next]}))
    };
    let mut steps: serde_json::Map<String, Value> = (0..60).map(step).collect();
    steps.insert("d60".to_owned(), json!({"type": "null"}));
    let schema = Schema::read(&json!({"$defs": steps, "$ref": "#/$defs/d0"})).unwrap();
    assert!(schema.check(&json!(1))[0].to_string().contains("could not be checked"));
}

#[test]
fn a_long_value_is_checked_in_full_and_shown_shortened() {
    let schema = Schema::read(&json!({"items": {"type": "string"}, "uniqueItems": true})).unwrap();
    let fine: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
    assert_eq!(schema.check(&json!(fine)), []);
    let wrong: Vec<u32> = (0..20_000).collect();
    assert_eq!(schema.check(&json!(wrong)).len(), 8);
    let long = schema.check(&json!({"a": "x".repeat(1_000_000)}));
    assert_eq!(long, [], "it is no array");
    let text = Schema::read(&json!({"maxLength": 1, "enum": ["a"]})).unwrap().check(&json!("x".repeat(1_000_000)));
    assert!(text.iter().all(|problem| problem.to_string().len() < 200), "{text:?}");
    let words: Vec<String> = (0..1000).map(|number| format!("word-{number}")).collect();
    let many = Schema::read(&json!({ "enum": words })).unwrap().check(&json!("other"));
    assert!(many[0].to_string().ends_with(r#""word-19", …, not "other""#), "{}", many[0]);
}

#[test]
fn a_pattern_takes_linear_time() {
    let schema = Schema::read(&json!({"pattern": "^(a+)+$"})).unwrap();
    assert_eq!(schema.check(&json!(format!("{}b", "a".repeat(100_000)))).len(), 1);
}
