"""Judges JSON schemas, and examples of what they describe, under draft-07: with a validator that is not ours.

Reads a list of {"schema": ..., "examples": [...]} from stdin; prints for each what is wrong with the schema itself,
and which examples it admits.
"""

import json
import sys

from jsonschema import Draft7Validator

META = Draft7Validator(Draft7Validator.META_SCHEMA)


def judged(case):
    validator = Draft7Validator(case["schema"])
    return {
        "wrong": [f"{error.json_path}: {error.message}" for error in META.iter_errors(case["schema"])],
        "admitted": [validator.is_valid(example) for example in case["examples"]],
    }


json.dump([judged(case) for case in json.load(sys.stdin)], sys.stdout)
