//! What every container gets, with no way to say less (design 7).

use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

/// The hardening of a container.
///
/// There is one value of this type. It has no input: not in settings, not in a file, not in a stored plan,
/// where anything else is an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Hardening {
    cap_drop: Vec<String>,
    no_new_privileges: bool,
    seccomp: String,
    app_armor: String,
    privileged: bool,
    init: bool,
    ipc: String,
    restart: String,
    pull: String,
    log_driver: String,
    healthcheck: bool,
    core_dumps: bool,
    workdir: String,
    forward_proxies: bool,
}

impl Hardening {
    /// The one hardening: CIS Docker 5.3 to 5.5, 5.15 to 5.17, 5.22, 5.26; OWASP Docker rules 3, 4 and 6.
    pub fn standard() -> Self {
        Self {
            cap_drop: Vec::from(["ALL".into()]),
            no_new_privileges: true,
            seccomp: "default".into(),
            app_armor: "default".into(),
            privileged: false,
            init: true,
            ipc: "private".into(),
            restart: "no".into(),
            pull: "never".into(),
            log_driver: "none".into(),
            healthcheck: false,
            core_dumps: false,
            workdir: "/".into(),
            forward_proxies: false,
        }
    }
}

impl<'de> Deserialize<'de> for Hardening {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = serde_json::Value::deserialize(deserializer)?;
        let standard = Self::standard();
        let expected = serde_json::to_value(&standard).map_err(D::Error::custom)?;
        if stored == expected {
            Ok(standard)
        } else {
            Err(D::Error::custom("hardening is not the standard one"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_plan_with_weaker_hardening_cannot_be_read() {
        let mut value = serde_json::to_value(Hardening::standard()).unwrap();
        assert!(serde_json::from_value::<Hardening>(value.clone()).is_ok());
        value["privileged"] = true.into();
        assert!(serde_json::from_value::<Hardening>(value).is_err());
    }
}
