//! Accepted schemas, and the errors of refused ones.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sortie_schema::Schema;

fn check_refused(schema: &Value, expected: &Expect) {
    let told = Schema::read(schema).map_or_else(|error| error.to_string(), |_| "read".to_owned());
    expected.assert_eq(&told);
}

#[test]
fn unsupported_keywords_are_refused_by_name() {
    check_refused(
        &json!({"properties": {"when": {"type": "string", "format": "date-time"}}}),
        &expect!["`format` at `/properties/when` is not supported; leave it out, or use other keywords"],
    );
    check_refused(
        &json!({"propertes": {}}),
        &expect!["`propertes` at the top is not supported; leave it out, or use other keywords"],
    );
    for keyword in ["not", "if", "patternProperties", "prefixItems", "dependentRequired", "multipleOf", "contains"] {
        assert!(Schema::read(&json!({ keyword: {} })).is_err(), "{keyword}");
    }
    // Below the top, no reference could reach them.
    for keyword in ["$defs", "definitions", "$id", "$schema"] {
        assert!(Schema::read(&json!({ keyword: {} })).is_ok(), "{keyword}");
        assert!(Schema::read(&json!({"items": { keyword: {} }})).is_err(), "{keyword}");
    }
    check_refused(
        &json!({"$defs": {"unused": {"format": "uri"}}}),
        &expect!["`format` at `/$defs/unused` is not supported; leave it out, or use other keywords"],
    );
}

#[test]
fn keywords_for_readers_are_not_rules() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "t", "description": "d", "$comment": "c",
        "default": 1, "examples": [1], "deprecated": true, "readOnly": false, "writeOnly": false,
    });
    assert_eq!(Schema::read(&schema).unwrap().check(&json!("anything")), []);
}

#[test]
fn malformed_keywords_are_named() {
    check_refused(
        &json!("object"),
        &expect!["a schema must be an object or a boolean, and at the top is something else"],
    );
    check_refused(
        &json!({"type": "text"}),
        &expect!["`type` at the top must be one or more of null, boolean, integer, number, string, array and object"],
    );
    check_refused(
        &json!({"properties": {"a/b": {"required": "x"}}}),
        &expect!["`required` at `/properties/a~1b` must be an array of strings"],
    );
    check_refused(&json!({"properties": []}), &expect!["`properties` at the top must be an object with schemas"]);
    check_refused(&json!({"$defs": 1}), &expect!["`$defs` at the top must be an object with schemas"]);
    check_refused(&json!({"anyOf": []}), &expect!["`anyOf` at the top must be an array with schemas"]);
    check_refused(&json!({"enum": []}), &expect!["`enum` at the top must be an array with values"]);
    check_refused(&json!({"minLength": -1}), &expect!["`minLength` at the top must be a whole number"]);
    check_refused(&json!({"exclusiveMinimum": true}), &expect!["`exclusiveMinimum` at the top must be a number"]);
    check_refused(&json!({"uniqueItems": "yes"}), &expect!["`uniqueItems` at the top must be true or false"]);
    check_refused(&json!({"pattern": "(a"}), &expect!["`pattern` at the top cannot be used: unclosed group"]);
    check_refused(
        &json!({"pattern": "(?=a)b"}),
        &expect![
            "`pattern` at the top cannot be used: look-around, including look-ahead and look-behind, is not supported"
        ],
    );
    check_refused(
        &json!({"items": [{"type": "string"}]}),
        &expect!["a schema must be an object or a boolean, and at `/items` is something else"],
    );
}

#[test]
fn references_stay_within_their_schema() {
    for target in ["#", "#/$defs/a", "#/definitions/b~1c"] {
        let schema = json!({"$defs": {"a": {}}, "definitions": {"b/c": {}}, "items": {"$ref": target}});
        assert!(Schema::read(&schema).is_ok(), "{target}");
    }
    check_refused(
        &json!({"items": {"$ref": "https://example.com/schema.json"}}),
        &expect![
            "`$ref` at `/items` is `https://example.com/schema.json`; it can be `#`, or name a part of `$defs` or `definitions` at the top"
        ],
    );
    for target in ["#/$defs/b", "#/properties/a", "other.json#", ""] {
        let schema = json!({"$defs": {"a": {}}, "properties": {"a": {}}, "items": {"$ref": target}});
        assert!(Schema::read(&schema).is_err(), "{target}");
    }
}
