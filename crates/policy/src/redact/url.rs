//! URLs safe to show, without passwords and keys.

/// Returns the URL with `user:password@` masked and without its query, which may also carry a key.
pub fn without_credentials(url: &str) -> String {
    let url = url.split_once('?').map_or(url, |(before, _)| before);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://********@{host}{path}"),
        None => url.to_owned(),
    }
}
