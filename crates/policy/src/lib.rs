//! What a task may do: decide a call, narrow a grant
