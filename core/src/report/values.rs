//! The values of a request, for a caller that keeps them out of what it prints.

use crate::{
    diagnostic::Findings,
    input::PlanRequest,
    parse::orca_yaml,
    resolve::{judge, values_in_file},
    secret::Sensitive,
};
use alloc::vec::Vec;

/// Every value that a request holds: of variables in all layers that people and the repository write, whether they
/// win or not, and what of the remote's URL is no place. The image's own ENV is public to whoever has the image.
pub fn values_in(request: &PlanRequest) -> Vec<Sensitive> {
    let judgement = judge(request);
    let mut values: Vec<Sensitive> = Vec::new();
    for (_, claims) in judgement.environment.names() {
        values.extend(claims.iter().filter_map(|claim| claim.given.written()).map(Sensitive::new));
        // What stands between the host variables of a text.
        values.extend(claims.iter().flat_map(|claim| claim.given.text_parts()).map(Sensitive::new));
    }
    // A block that is not admitted is in no layer.
    let block = request.orca_yaml.as_ref().and_then(|file| orca_yaml::read(file, &mut Findings::default()));
    values.extend(block.into_iter().flat_map(|block| block.env).map(|(_, value)| value));
    values.extend(values_in_file(request));
    if let Some(url) = &request.workspace.remote_url {
        values.extend(credentials(url.reveal()).map(Sensitive::new));
    }
    values
}

/// User and password of a URL, together and each, its query and its fragment.
fn credentials(url: &str) -> impl Iterator<Item = &str> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    // A user alone is a token over http, and a name over ssh.
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let (place, query) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let authority = place.split('/').next().unwrap_or_default();
    let user_info = authority.rsplit_once('@').map(|(info, _)| info).filter(|info| web || info.contains(':'));
    let password = user_info.and_then(|info| info.split_once(':')).map(|(_, password)| password);
    [user_info, password, query.get(1..)].into_iter().flatten().filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn of(url: &str) -> Vec<String> {
        credentials(url).map(String::from).collect()
    }

    #[test]
    fn a_urls_secrets_are_what_is_no_place() {
        assert_eq!(of("https://user:pass@host/a/b?token=x"), ["user:pass", "pass", "token=x"]);
        assert_eq!(of("https://ghp_token@host/a"), ["ghp_token"]);
        assert_eq!(of("ssh://git@host/a"), Vec::<String>::new());
        assert_eq!(of("https://host/a"), Vec::<String>::new());
        assert_eq!(of("git@host:a/b"), Vec::<String>::new());
        assert_eq!(of("https://host/a@b:c"), Vec::<String>::new());
    }
}
