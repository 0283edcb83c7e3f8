//! Values that fit a schema, and the problems of those that do not.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sortie_schema::Schema;

fn problems(schema: &Value, value: &Value) -> String {
    let problems = Schema::read(schema).expect("it can be used").check(value);
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn fits(schema: &Value, values: &[Value]) {
    for value in values {
        assert_eq!(problems(schema, value), "", "{value} against {schema}");
    }
}

#[track_caller]
fn fits_not(schema: &Value, value: &Value, expected: &Expect) {
    expected.assert_eq(&problems(schema, value));
}

#[test]
fn kinds() {
    fits(&json!({"type": "integer"}), &[json!(1), json!(-1), json!(2.0), json!(1e300), json!(u64::MAX)]);
    fits(&json!({"type": "number"}), &[json!(1), json!(1.5)]);
    fits(&json!({"type": ["string", "null"]}), &[json!(""), json!(null)]);
    fits(&json!({"type": "boolean"}), &[json!(true)]);
    fits(&json!({"type": "array"}), &[json!([])]);
    fits(&json!(true), &[json!({}), json!(null)]);
    fits_not(&json!({"type": "integer"}), &json!(1.5), &expect!["the value must be a whole number, not 1.5"]);
    fits_not(&json!({"type": "object"}), &json!([1]), &expect!["the value must be an object, not an array"]);
    fits_not(
        &json!({"type": ["string", "null"]}),
        &json!({"a": 1}),
        &expect!["the value must be a string or null, not an object"],
    );
    fits_not(&json!({"type": "boolean"}), &json!("true"), &expect![[r#"the value must be a boolean, not "true""#]]);
    fits_not(&json!(false), &json!(1), &expect!["the value must not be there"]);
}

#[test]
fn fixed_values() {
    fits(&json!({"enum": ["low", 1, null, {"a": [1]}]}), &[json!("low"), json!(1.0), json!(null), json!({"a": [1.0]})]);
    fits(&json!({"const": {"a": 1}}), &[json!({"a": 1})]);
    fits_not(
        &json!({"enum": ["low", "high"]}),
        &json!("middling"),
        &expect![[r#"the value must be one of "low", "high", not "middling""#]],
    );
    fits_not(&json!({"const": 2}), &json!("2"), &expect![[r#"the value must be 2, not "2""#]]);
}

#[test]
fn objects() {
    let schema = json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "line": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": false,
    });
    fits(&schema, &[json!({"path": "a"}), json!({"path": "a", "line": 3})]);
    fits_not(
        &schema,
        &json!({"line": "3", "col": 1}),
        &expect![[r#"
            `/line` must be a whole number, not "3"
            the value must not have the key `col`; its keys are line, path
            the value must have the key `path`"#]],
    );
    fits(&json!({"additionalProperties": {"type": "integer"}}), &[json!({"a": 1}), json!("no object")]);
    fits_not(
        &json!({"additionalProperties": {"type": "integer"}}),
        &json!({"a/b~": "1"}),
        &expect![[r#"`/a~1b~0` must be a whole number, not "1""#]],
    );
    fits_not(
        &json!({"additionalProperties": false}),
        &json!({"a": 1}),
        &expect!["the value must not have the key `a`"],
    );
    fits_not(&json!({"minProperties": 1}), &json!({}), &expect!["the value must have at least 1 key, and has 0"]);
    fits_not(
        &json!({"maxProperties": 1}),
        &json!({"a": 1, "b": 1}),
        &expect!["the value must have at most 1 key, and has 2"],
    );
}

#[test]
fn arrays() {
    let schema = json!({"items": {"type": "string"}, "minItems": 2, "maxItems": 3, "uniqueItems": true});
    fits(&schema, &[json!(["a", "b"]), json!("no array")]);
    fits_not(&schema, &json!(["a"]), &expect!["the value must have at least 2 items, and has 1"]);
    fits_not(
        &schema,
        &json!(["a", 1, "a", 1.0]),
        &expect![[r#"
            `/1` must be a string, not 1
            `/3` must be a string, not 1
            the value must have at most 3 items, and has 4
            the value must not repeat items, and repeats "a""#]],
    );
    fits_not(
        &json!({"uniqueItems": true}),
        &json!([1, 1.0]),
        &expect!["the value must not repeat items, and repeats 1"],
    );
}

#[test]
fn texts() {
    let schema = json!({"minLength": 2, "maxLength": 3, "pattern": "^[a-zä]+$"});
    fits(&schema, &[json!("ab"), json!("äää"), json!(1)]);
    fits_not(
        &schema,
        &json!("A"),
        &expect![[r#"
            the value must have at least 2 characters, and has 1
            the value must match the pattern `^[a-zä]+$`, not "A""#]],
    );
    fits_not(&json!({"maxLength": 3}), &json!("abcd"), &expect!["the value must have at most 3 characters, and has 4"]);
    fits(&json!({"pattern": "b"}), &[json!("abc")]);
}

#[test]
fn numbers() {
    fits(&json!({"minimum": 1, "maximum": 2}), &[json!(1), json!(2.0), json!(1.5), json!("0")]);
    fits(&json!({"exclusiveMinimum": 1, "exclusiveMaximum": 2}), &[json!(1.5)]);
    fits_not(&json!({"minimum": 1}), &json!(0.5), &expect!["the value must be at least 1, not 0.5"]);
    fits_not(&json!({"maximum": 1}), &json!(2), &expect!["the value must be at most 1, not 2"]);
    fits_not(&json!({"exclusiveMinimum": 1}), &json!(1), &expect!["the value must be more than 1, not 1"]);
    fits_not(&json!({"exclusiveMaximum": 1.5}), &json!(1.5), &expect!["the value must be less than 1.5, not 1.5"]);
    // Different integers that are equal as floats.
    fits_not(
        &json!({"maximum": 9_007_199_254_740_992_u64}),
        &json!(9_007_199_254_740_993_u64),
        &expect!["the value must be at most 9007199254740992, not 9007199254740993"],
    );
}

#[test]
fn alternatives() {
    let text_or_nothing = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    fits(&text_or_nothing, &[json!("a"), json!(null)]);
    fits_not(
        &text_or_nothing,
        &json!(1),
        &expect![
            "the value must fit one of 2 alternatives: (1) the value must be a string, not 1; (2) the value must be null, not 1"
        ],
    );
    let one = json!({"oneOf": [{"type": "integer"}, {"minimum": 5}]});
    fits(&one, &[json!(1), json!(5.5)]);
    fits_not(&one, &json!(7), &expect!["the value must fit exactly one of 2 alternatives, and fits 2"]);
    fits_not(
        &json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}),
        &json!({}),
        &expect![[r#"
            the value must have the key `a`
            the value must have the key `b`"#]],
    );
}

#[test]
fn references() {
    let tree = json!({
        "$defs": {"node": {
            "properties": {"name": {"type": "string"}, "children": {"items": {"$ref": "#/$defs/node"}}},
            "required": ["name"],
        }},
        "$ref": "#/$defs/node",
    });
    fits(&tree, &[json!({"name": "a", "children": [{"name": "b", "children": []}]})]);
    fits_not(
        &tree,
        &json!({"name": "a", "children": [{"name": "b", "children": [{}]}]}),
        &expect!["`/children/0/children/0` must have the key `name`"],
    );
    let list = json!({"anyOf": [{"type": "null"}, {"properties": {"next": {"$ref": "#"}}, "required": ["next"]}]});
    fits(&list, &[json!({"next": {"next": null}})]);
    fits_not(
        &json!({"definitions": {"a": {"type": "string"}}, "items": {"$ref": "#/definitions/a", "minLength": 2}}),
        &json!(["a"]),
        &expect!["`/0` must have at least 2 characters, and has 1"],
    );
}
