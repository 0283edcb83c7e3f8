//! Agent definitions, their registry, and resolving what was said into what is meant
