//! Changes to a single place in a JSON document, named by its pointer.

use serde_json::Value;

/// Sets a value; the last step of the pointer is created if needed.
pub(crate) fn with(mut document: Value, pointer: &str, value: Value) -> Value {
    let (parent, last) = parent(&mut document, pointer);
    match parent {
        Value::Object(object) => drop(object.insert(last.to_owned(), value)),
        parent => parent[last.parse::<usize>().unwrap()] = value,
    }
    document
}

/// Removes a value, which must exist.
pub(crate) fn without(mut document: Value, pointer: &str) -> Value {
    let (parent, last) = parent(&mut document, pointer);
    match parent {
        Value::Object(object) => drop(object.remove(last).unwrap()),
        parent => drop(parent.as_array_mut().unwrap().remove(last.parse().unwrap())),
    }
    document
}

fn parent<'a, 'b>(document: &'a mut Value, pointer: &'b str) -> (&'a mut Value, &'b str) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    (document.pointer_mut(parent).unwrap(), last)
}
