//! hostRequirements: compared with the template, which they never raise.

use super::Scene;
use crate::{
    diagnostic::{Code, Severity},
    parse::jsonc::{Node, Value},
    plan::template_size,
    text::quoted,
};
use alloc::format;

impl Scene<'_, '_> {
    pub(super) fn requirements(&mut self, node: &Node) {
        let Value::Object(members) = &node.value else { return };
        let (memory, cpus) = template_size(self.grants.template);
        for member in members {
            let path = format!("hostRequirements.{}", crate::text::escaped(&member.key));
            let more = match (member.key.as_str(), &member.node.value) {
                ("cpus", Value::Number(text)) => text.parse::<u64>().map(|wanted| wanted > cpus).ok(),
                ("memory", Value::Text(text)) => bytes(text).map(|wanted| wanted > memory),
                ("storage", Value::Text(text)) => bytes(text).map(|_| false),
                ("gpu", Value::Bool(false)) => Some(false),
                ("gpu", _) => {
                    let message =
                        "A graphics processor is a device of this computer; the container gets none.";
                    self.tell(
                        Severity::Dropped,
                        Code::DevcontainerValueDropped,
                        member.node.at,
                        &path,
                        message.into(),
                        Some("CIS Docker 5.18"),
                    );
                    continue;
                }
                _ => None,
            };
            match more {
                Some(false) => {}
                Some(true) => {
                    let message = format!(
                        "The repository wants more {} than the template {} gives; a person chooses a larger one.",
                        quoted(&member.key),
                        quoted(self.grants.template.as_str())
                    );
                    self.tell(
                        Severity::Notice,
                        Code::DevcontainerKeyIgnored,
                        member.node.at,
                        &path,
                        message,
                        None,
                    );
                }
                None => {
                    let message = format!(
                        "Requirements are \"cpus\" (a number), \"memory\" and \"storage\" (such as \"8gb\") and \"gpu\"; {} is left out.",
                        quoted(&member.key)
                    );
                    self.drop_value(member.node.at, &path, message);
                }
            }
        }
    }
}

/// `8gb`, `512mb`, `1024`: binary units, as the specification has them.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "" => 1,
        "kb" => 1 << 10,
        "mb" => 1 << 20,
        "gb" => 1 << 30,
        "tb" => 1 << 40,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_binary_units_and_do_not_overflow() {
        assert_eq!(bytes("8gb"), Some(8 << 30));
        assert_eq!(bytes("1024"), Some(1024));
        for text in ["", "gb", "8 gb", "8GB", "-1gb", "99999999999tb", "8gbx"] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }
}
