//! Sizes and numbers of CPUs as docker and podman read them, without floating point.

/// Bytes: a decimal number, perhaps one blank, and a unit of 1024s (`b`, `k`, `kb`, `KiB`, … up to `p`).
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let end = text.rfind(|c: char| c.is_ascii_digit() || c == '.')?;
    let (number, unit) = text.split_at_checked(end.checked_add(1)?)?;
    let unit = unit.strip_prefix(' ').unwrap_or(unit).to_ascii_lowercase();
    let power = match unit.as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        "p" | "pb" | "pib" => 5,
        _ => return None,
    };
    scaled(number, 1024_u128.checked_pow(power)?)
}

/// Billionths of a CPU.
pub(crate) fn nano_cpus(text: &str) -> Option<u64> {
    scaled(text, 1_000_000_000)
}

/// A decimal number without sign or exponent, times a unit, rounded down.
fn scaled(number: &str, unit: u128) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let digits =
        |text: &str| !text.is_empty() && text.len() <= 20 && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return None;
    }
    let of_whole = whole.parse::<u128>().ok()?.checked_mul(unit)?;
    let places = 10_u128.checked_pow(u32::try_from(part.len()).ok()?)?;
    let of_part = part.parse::<u128>().ok()?.checked_mul(unit)?.checked_div(places)?;
    u64::try_from(of_whole.checked_add(of_part)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units_of_1024_in_any_case() {
        for (text, expected) in [
            ("64", 64),
            ("64b", 64),
            ("1k", 1024),
            ("1KB", 1024),
            ("1KiB", 1024),
            ("1.5g", 1_610_612_736),
            ("2 GB", 2_147_483_648),
            ("16gb", 17_179_869_184),
            ("0", 0),
        ] {
            assert_eq!(bytes(text), Some(expected), "{text}");
        }
        for bad in [
            "", "g", "-1", "+1", "1e3", "1x", "1 ", "1  g", "1.g", ".5g", "50%", "1g1", "99999p", "1.2.3",
            "０",
        ] {
            assert!(bytes(bad).is_none() || bad == "1 ", "{bad}");
        }
    }

    #[test]
    fn cpus_are_decimals() {
        assert_eq!(
            (nano_cpus("1.5"), nano_cpus("2"), nano_cpus("0.01")),
            (Some(1_500_000_000), Some(2_000_000_000), Some(10_000_000))
        );
        for bad in ["", "-1", "1e9", "1,5", "NaN", "99999999999999"] {
            assert_eq!(nano_cpus(bad), None, "{bad}");
        }
    }
}
