//! What Orca asks for: the environment of `create`, and the payload of the other three.

use serde::Deserialize;

/// The version of the result that we write.
const VERSION: &str = "2";

/// A workspace that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// One to work in.
    Workspace {
        /// The branch that begins in it.
        branch: String,
        /// The commit that it begins at; nothing is resolved again.
        commit: String,
    },
    /// One that is removed at once: `orca vm recipe doctor --provision` names nothing but itself.
    Trial {
        /// The branch that begins in it, at what is checked out.
        branch: String,
    },
}

/// Why nothing can be done for Orca.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskedError {
    /// Another Orca.
    #[error(
        "Orca must read recipe results of version 2 (ORCA_RECIPE_RESULT_SCHEMA_VERSION); update Orca or orca-container."
    )]
    Version,
    /// It did not come from Orca, or from one that clones by itself.
    #[error("Orca gives {0}; run this from a recipe with \"checkoutMode: provisioned-root\".")]
    Missing(&'static str),
    /// No payload.
    #[error(
        "Orca's payload on standard input names no workspace of ours (recipeResult.userData.resourceId)."
    )]
    Payload,
}

impl Asked {
    /// From the environment of `create`.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Self, AskedError> {
        if variable("ORCA_RECIPE_RESULT_SCHEMA_VERSION").as_deref() != Some(VERSION) {
            return Err(AskedError::Version);
        }
        let given = |name: &'static str| variable(name).filter(|text| !text.is_empty());
        // Orca names the branch where a person chose one; else it is called as the workspace is, and Orca expects that.
        let branch = given("ORCA_REPO_BRANCH").or_else(|| given("ORCA_WORKSPACE_NAME"));
        match (branch, given("ORCA_REPO_REF_HEAD"), given("ORCA_VM_INSTANCE_ID")) {
            (Some(branch), Some(commit), _) => Ok(Self::Workspace { branch, commit }),
            (None, None, Some(branch)) => Ok(Self::Trial { branch }),
            (None, ..) => Err(AskedError::Missing("ORCA_REPO_BRANCH")),
            (_, None, _) => Err(AskedError::Missing("ORCA_REPO_REF_HEAD")),
        }
    }
}

/// The workspace that a lifecycle payload is about, by its container's name. What else Orca says there is not ours.
pub fn resource_of(payload: &[u8]) -> Result<String, AskedError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Payload {
        recipe_result: Recipe,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Recipe {
        user_data: UserData,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct UserData {
        resource_id: String,
    }
    let payload: Payload = serde_json::from_slice(payload).map_err(|_| AskedError::Payload)?;
    let id = payload.recipe_result.user_data.resource_id;
    let is_ours =
        |key: &str| key.len() == 26 && key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if id.strip_prefix("orca-ws-").is_some_and(is_ours) { Ok(id) } else { Err(AskedError::Payload) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked for by a branch, a name, a commit and an instance, in this order.
    fn asked(version: &str, given: [&str; 4]) -> Result<Asked, AskedError> {
        let [branch, workspace, head, instance] = given;
        Asked::of(|name| {
            let value = match name {
                "ORCA_RECIPE_RESULT_SCHEMA_VERSION" => version,
                "ORCA_REPO_BRANCH" => branch,
                "ORCA_WORKSPACE_NAME" => workspace,
                "ORCA_REPO_REF_HEAD" => head,
                "ORCA_VM_INSTANCE_ID" => instance,
                _ => "",
            };
            Some(value.to_owned())
        })
    }

    #[test]
    fn an_orca_of_another_version_and_one_that_says_too_little_are_refused() {
        let commit = "0123456789012345678901234567890123456789";
        let expected = |branch: &str| Ok(Asked::Workspace { branch: branch.into(), commit: commit.into() });
        assert_eq!(asked("2", ["work/x", "other", commit, "orca-1"]), expected("work/x"));
        assert_eq!(asked("2", ["", "named", commit, "orca-1"]), expected("named"));
        assert_eq!(asked("1", ["work/x", "", commit, ""]), Err(AskedError::Version));
        assert_eq!(asked("", ["work/x", "", commit, ""]), Err(AskedError::Version));
        assert_eq!(asked("2", ["", "", commit, "orca-1"]), Err(AskedError::Missing("ORCA_REPO_BRANCH")));
        assert_eq!(asked("2", ["work/x", "", "", "orca-1"]), Err(AskedError::Missing("ORCA_REPO_REF_HEAD")));
        assert_eq!(asked("2", ["", "", "", ""]), Err(AskedError::Missing("ORCA_REPO_BRANCH")));
    }

    /// Orca's doctor runs create and destroy without saying what for.
    #[test]
    fn orcas_doctor_tries_a_workspace_of_its_instances_name() {
        let trial = Asked::Trial { branch: "orca-1".into() };
        assert_eq!(asked("2", ["", "", "", "orca-1"]), Ok(trial));
    }

    #[test]
    fn a_payload_names_a_workspace_of_ours_or_nothing() {
        let payload =
            |id: &str| format!(r#"{{"recipeResult":{{"userData":{{"resourceId":"{id}"}},"more":1}},"x":2}}"#);
        let id = "orca-ws-abcdefghijklmnopqrstuvwxyz";
        assert_eq!(resource_of(payload(id).as_bytes()).as_deref(), Ok(id));
        for other in ["", "acme", "../../x", "orca-ws-", "orca-ws-ABCDEFGHIJKLMNOPQRSTUVWXYZ"] {
            assert_eq!(resource_of(payload(other).as_bytes()), Err(AskedError::Payload), "{other}");
        }
        for text in ["", "{}", "null", r#"{"recipeResult":null}"#] {
            assert_eq!(resource_of(text.as_bytes()), Err(AskedError::Payload), "{text}");
        }
    }
}
