//! Request from flags, in the terms of the contract in use. The contract judges it; only missing fields are checked
//! here.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use serde_json::{Map, Value};
use sortie_contract::Contract;

use crate::command::args::output_schema;
use crate::error::CommandError;

/// Fields of a request. The contract decides which exist; names are checked once it is known.
#[derive(Debug, Args)]
pub(super) struct RequestFlags {
    /// Agent [default: general-purpose, in contracts where it is optional]
    #[arg(long, value_name = "NAME", visible_alias = "subagent-type")]
    agent: Option<String>,

    /// Title in a few words, for lists and progress
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    /// Brief: everything the sub-agent needs to know
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,

    /// Brief, in the contract `delegate`, which has no `prompt`
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,

    /// Route, alias or model id; `sortie models` lists them
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// Answer in JSON only, matching the schema in this file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output_schema: Option<PathBuf>,

    /// Any other field of the contract, e.g. `max_turns=3`; see `sortie schema`
    #[arg(long = "field", value_name = "NAME=VALUE", value_parser = parse_field)]
    fields: Vec<Field>,
}

/// Ids of these arguments, for the flags that exclude them.
pub(super) const FLAGS: [&str; 7] = ["agent", "description", "prompt", "task", "model", "output_schema", "fields"];

#[derive(Debug, Clone)]
struct Field {
    name: String,
    value: String,
}

fn parse_field(text: &str) -> Result<Field, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok(Field { name: name.trim().to_owned(), value: value.to_owned() })
        }
        _ => Err("it must be NAME=VALUE".to_owned()),
    }
}

impl RequestFlags {
    /// Request as the contract reads it. An error names missing or unknown flags.
    pub(super) fn arguments(&self, contract: &dyn Contract) -> Result<String, CommandError> {
        let vocabulary = Vocabulary { schema: contract.schema(&[]), contract };
        let mut request = Map::new();
        for (flag, value) in self.named() {
            let Some(value) = value else { continue };
            let field = vocabulary.field(flag).ok_or_else(|| vocabulary.no_such(flag))?;
            request.insert(field.to_owned(), Value::from(value.as_str()));
        }
        if let Some(file) = &self.output_schema {
            let field = vocabulary.field(OUTPUT_SCHEMA).ok_or_else(|| vocabulary.no_such("output-schema"))?;
            request.insert(field.to_owned(), output_schema::read(file)?);
        }
        for Field { name, value } in &self.fields {
            if request.insert(name.clone(), vocabulary.value(name, value)).is_some() {
                return Err(CommandError::usage(format!("`{name}` is given twice")));
            }
        }
        let missing: Vec<&str> = vocabulary.required().filter(|field| !request.contains_key(*field)).collect();
        if missing.is_empty() { Ok(Value::from(request).to_string()) } else { Err(vocabulary.missing(&missing)) }
    }

    fn named(&self) -> [(&'static str, Option<&String>); 5] {
        [
            (AGENT, self.agent.as_ref()),
            ("description", self.description.as_ref()),
            ("prompt", self.prompt.as_ref()),
            ("task", self.task.as_ref()),
            ("model", self.model.as_ref()),
        ]
    }
}

/// Field whose value comes from a file.
const OUTPUT_SCHEMA: &str = "output_schema";

/// Flag whose field differs by contract.
const AGENT: &str = "agent";

/// Field names of a contract.
struct Vocabulary<'a> {
    schema: Value,
    contract: &'a dyn Contract,
}

impl Vocabulary<'_> {
    /// Field that a flag sets.
    fn field<'a>(&self, flag: &'a str) -> Option<&'a str> {
        if flag == AGENT {
            return self.contract.agent_field();
        }
        self.schema["properties"].get(flag).map(|_| flag)
    }

    /// Flag that sets a field.
    fn flag(&self, field: &str) -> String {
        match field {
            agent if self.contract.agent_field() == Some(agent) => format!("--{AGENT} (its `{agent}`)"),
            "description" | "prompt" | "task" | "model" => format!("--{field}"),
            OUTPUT_SCHEMA => "--output-schema".to_owned(),
            other => format!("--field {other}=…"),
        }
    }

    fn required(&self) -> impl Iterator<Item = &str> {
        self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// Value of a field: the text itself, or for a field of another type the JSON in it. The contract judges if that
    /// fits.
    fn value(&self, field: &str, text: &str) -> Value {
        match self.schema["properties"].get(field) {
            Some(known) if known["type"] != "string" => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
            _ => text.into(),
        }
    }

    fn missing(&self, fields: &[&str]) -> CommandError {
        let flags: Vec<String> = fields.iter().map(|field| self.flag(field)).collect();
        let name = self.contract.name();
        CommandError::usage(format!("the contract `{name}` needs {}", flags.join(" and ")))
            .hint(format!("or give the whole request with --json; `sortie schema --contract {name}` describes it"))
    }

    fn no_such(&self, flag: &str) -> CommandError {
        let offered = self.schema["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str);
        // The contract may read an agent field that its schema does not offer.
        let agent = self.contract.agent_field().filter(|agent| self.schema["properties"].get(agent).is_none());
        let flags: Vec<String> = offered.chain(agent).map(|field| self.flag(field)).collect();
        CommandError::usage(format!("the contract `{}` has no field for --{flag}", self.contract.name()))
            .hint(format!("it takes {}", flags.join(", ")))
    }
}
