//! Turns a JSON schema into rules. Refuses whatever the check does not support.

use std::collections::{BTreeMap, HashSet};

use regex::RegexBuilder;
use serde_json::{Map, Value};

use crate::error::{Place, SchemaError};
use crate::rule::{Bound, Kind, Measured, Part, PartId, Rule, Schema, normal};

/// Each request of a task carries its schema.
pub(crate) const MAX_BYTES: usize = 32 * 1024;
pub(crate) const MAX_DEPTH: usize = 32;
pub(crate) const MAX_PATTERNS: usize = 64;
/// Memory limit of one compiled pattern.
const MAX_PATTERN_BYTES: usize = 256 * 1024;

/// Keys that hold parts for others to refer to.
const SHELVES: [&str; 2] = ["$defs", "definitions"];

impl Schema {
    /// Reads a schema. Fails if it is malformed or has keywords that are not supported.
    pub fn read(schema: &Value) -> Result<Self, SchemaError> {
        let bytes = schema.to_string().len();
        if bytes > MAX_BYTES {
            return Err(SchemaError::TooLarge { bytes });
        }
        let mut reader =
            Reader { parts: vec![Part::Never], named: BTreeMap::new(), references: Vec::new(), patterns: 0 };
        reader.named.insert("#".to_owned(), PartId(0));
        let top = Place::default();
        let mut shelved = Vec::new();
        for shelf in SHELVES {
            for (name, part) in members(schema.get(shelf), shelf, &top)?.into_iter().flatten() {
                let place = top.of(shelf).of(name);
                let id = reader.reserve();
                reader.named.insert(format!("#{}", place.0), id);
                shelved.push((id, part, place));
            }
        }
        reader.fill(PartId(0), schema, &top, 0)?;
        for (id, part, place) in shelved {
            reader.fill(id, part, &place, 0)?;
        }
        reader.refuse_circles()?;
        Ok(Self { parts: reader.parts })
    }
}

/// A schema being read.
struct Reader {
    parts: Vec<Part>,
    /// Valid targets of a reference.
    named: BTreeMap<String, PartId>,
    references: Vec<Reference>,
    patterns: usize,
}

/// A part with `$ref`, and the part it refers to.
struct Reference {
    from: PartId,
    to: PartId,
    place: Place,
}

impl Reader {
    fn reserve(&mut self) -> PartId {
        self.parts.push(Part::Never);
        PartId(self.parts.len() - 1)
    }

    fn part(&mut self, schema: &Value, place: &Place, depth: usize) -> Result<PartId, SchemaError> {
        let id = self.reserve();
        self.fill(id, schema, place, depth + 1)?;
        Ok(id)
    }

    fn fill(&mut self, id: PartId, schema: &Value, place: &Place, depth: usize) -> Result<(), SchemaError> {
        if depth > MAX_DEPTH {
            return Err(SchemaError::TooDeep { place: place.clone() });
        }
        self.parts[id.0] = match schema {
            Value::Bool(true) => Part::Rules(Vec::new()),
            Value::Bool(false) => Part::Never,
            Value::Object(keywords) => {
                let mut rules = Vec::new();
                for (keyword, value) in keywords {
                    let said = Keyword { part: id, name: keyword, value, beside: keywords, place, depth };
                    rules.extend(self.rule(&said)?);
                }
                Part::Rules(rules)
            }
            _ => return Err(SchemaError::NoSchema { place: place.clone() }),
        };
        Ok(())
    }

    /// Reads the rule of a keyword; `None` if it only informs readers.
    fn rule(&mut self, said: &Keyword<'_>) -> Result<Option<Rule>, SchemaError> {
        let is_at_top = said.place.0.is_empty();
        Ok(Some(match said.name {
            "title" | "description" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" | "$comment" => {
                return Ok(None);
            }
            "$schema" | "$id" | "$defs" | "definitions" if is_at_top => return Ok(None),
            "type" => Rule::Kinds(said.kinds()?),
            "enum" => Rule::Values(said.list("an array with values")?.iter().map(normal).collect()),
            "const" => Rule::Values(vec![normal(said.value)]),
            "$ref" => Rule::Same(self.reference(said)?),
            "allOf" => Rule::All(self.alternatives(said)?),
            "anyOf" => Rule::Any(self.alternatives(said)?),
            "oneOf" => Rule::One(self.alternatives(said)?),
            // Read together with `properties`.
            "additionalProperties" if said.beside.contains_key("properties") => return Ok(None),
            "properties" | "additionalProperties" => self.members(said)?,
            "required" => Rule::Required(said.names()?),
            "items" => Rule::Items(self.part(said.value, &said.below(), said.depth)?),
            "uniqueItems" => match said.value {
                Value::Bool(true) => Rule::Unique,
                Value::Bool(false) => return Ok(None),
                _ => return Err(said.malformed("true or false")),
            },
            "minLength" => said.length(Measured::Characters, Bound::AtLeast)?,
            "maxLength" => said.length(Measured::Characters, Bound::AtMost)?,
            "minItems" => said.length(Measured::Items, Bound::AtLeast)?,
            "maxItems" => said.length(Measured::Items, Bound::AtMost)?,
            "minProperties" => said.length(Measured::Keys, Bound::AtLeast)?,
            "maxProperties" => said.length(Measured::Keys, Bound::AtMost)?,
            "minimum" => Rule::Range(Bound::AtLeast(said.number()?)),
            "maximum" => Rule::Range(Bound::AtMost(said.number()?)),
            "exclusiveMinimum" => Rule::Range(Bound::Above(said.number()?)),
            "exclusiveMaximum" => Rule::Range(Bound::Below(said.number()?)),
            "pattern" => self.pattern(said)?,
            _ => return Err(SchemaError::Unsupported { place: said.place.clone(), keyword: said.name.to_owned() }),
        }))
    }

    fn reference(&mut self, said: &Keyword<'_>) -> Result<PartId, SchemaError> {
        let target = said.value.as_str().ok_or_else(|| said.malformed("a string"))?;
        let unknown = || SchemaError::Reference { place: said.place.clone(), target: target.to_owned() };
        let to = self.named.get(target).copied().ok_or_else(unknown)?;
        self.references.push(Reference { from: said.part, to, place: said.place.clone() });
        Ok(to)
    }

    /// Refuses a reference that leads back to itself without going into the value: its check would never end.
    fn refuse_circles(&self) -> Result<(), SchemaError> {
        match self.references.iter().find(|reference| self.leads(reference.to, reference.from)) {
            Some(endless) => Err(SchemaError::Endless { place: endless.place.clone() }),
            None => Ok(()),
        }
    }

    /// True if checking a value against `from` also checks the same value against `to`.
    fn leads(&self, from: PartId, to: PartId) -> bool {
        let (mut seen, mut left) = (HashSet::new(), vec![from]);
        while let Some(part) = left.pop() {
            if part == to {
                return true;
            }
            if let Part::Rules(rules) = &self.parts[part.0]
                && seen.insert(part)
            {
                left.extend(rules.iter().flat_map(Rule::on_same_value));
            }
        }
        false
    }

    fn alternatives(&mut self, said: &Keyword<'_>) -> Result<Vec<PartId>, SchemaError> {
        let parts = said.list("an array with schemas")?.iter().enumerate();
        parts.map(|(at, part)| self.part(part, &said.below().of(&at.to_string()), said.depth)).collect()
    }

    fn members(&mut self, said: &Keyword<'_>) -> Result<Rule, SchemaError> {
        let mut known = BTreeMap::new();
        let properties = said.beside.get("properties");
        for (key, part) in members(properties, "properties", said.place)?.into_iter().flatten() {
            let place = said.place.of("properties").of(key);
            known.insert(key.clone(), self.part(part, &place, said.depth)?);
        }
        let others = said.beside.get("additionalProperties");
        let place = said.place.of("additionalProperties");
        let others = others.map(|others| self.part(others, &place, said.depth)).transpose()?;
        Ok(Rule::Members { known, others })
    }

    fn pattern(&mut self, said: &Keyword<'_>) -> Result<Rule, SchemaError> {
        let pattern = said.value.as_str().ok_or_else(|| said.malformed("a string"))?;
        self.patterns += 1;
        if self.patterns > MAX_PATTERNS {
            return Err(SchemaError::TooManyPatterns);
        }
        let made = RegexBuilder::new(pattern).size_limit(MAX_PATTERN_BYTES).build();
        // The library draws the pattern with a mark below the flaw; the last line explains it.
        made.map(Rule::Pattern).map_err(|error| {
            let reason = error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            SchemaError::Pattern { place: said.place.clone(), reason }
        })
    }
}

/// The schemas by name under a key.
fn members<'a>(
    value: Option<&'a Value>,
    keyword: &str,
    place: &Place,
) -> Result<Option<&'a Map<String, Value>>, SchemaError> {
    match value {
        None => Ok(None),
        Some(Value::Object(members)) => Ok(Some(members)),
        Some(_) => {
            let (place, keyword) = (place.clone(), keyword.to_owned());
            Err(SchemaError::Malformed { place, keyword, expected: "an object with schemas" })
        }
    }
}

/// A keyword, and its place in the schema.
struct Keyword<'a> {
    /// The part that has the keyword.
    part: PartId,
    name: &'a str,
    value: &'a Value,
    /// All keywords of the same schema.
    beside: &'a Map<String, Value>,
    place: &'a Place,
    depth: usize,
}

impl Keyword<'_> {
    fn below(&self) -> Place {
        self.place.of(self.name)
    }

    fn malformed(&self, expected: &'static str) -> SchemaError {
        SchemaError::Malformed { place: self.place.clone(), keyword: self.name.to_owned(), expected }
    }

    fn list(&self, expected: &'static str) -> Result<&[Value], SchemaError> {
        match self.value {
            Value::Array(items) if !items.is_empty() => Ok(items),
            _ => Err(self.malformed(expected)),
        }
    }

    fn kinds(&self) -> Result<Vec<Kind>, SchemaError> {
        const EXPECTED: &str = "one or more of null, boolean, integer, number, string, array and object";
        let kind = |name: &Value| {
            let known = Kind::ALL.iter().find(|(known, _)| name.as_str() == Some(known));
            known.map(|(_, kind)| *kind).ok_or_else(|| self.malformed(EXPECTED))
        };
        match self.value {
            Value::Array(_) => self.list(EXPECTED)?.iter().map(kind).collect(),
            one => Ok(vec![kind(one)?]),
        }
    }

    fn names(&self) -> Result<Vec<String>, SchemaError> {
        const EXPECTED: &str = "an array of strings";
        let items = self.value.as_array().ok_or_else(|| self.malformed(EXPECTED))?;
        let name = |item: &Value| item.as_str().map(str::to_owned).ok_or_else(|| self.malformed(EXPECTED));
        items.iter().map(name).collect()
    }

    fn length(&self, of: Measured, bound: fn(u64) -> Bound<u64>) -> Result<Rule, SchemaError> {
        let count = normal(self.value).as_u64().ok_or_else(|| self.malformed("a whole number"))?;
        Ok(Rule::Length { of, bound: bound(count) })
    }

    fn number(&self) -> Result<serde_json::Number, SchemaError> {
        self.value.as_number().cloned().ok_or_else(|| self.malformed("a number"))
    }
}
