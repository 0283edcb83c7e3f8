//! The Task tool's JSON dialects: schema, decode, encode
