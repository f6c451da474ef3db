//! Hostile texts, shared by the test that none of them hangs and the bench that says how long they take.

/// 200 kB of every construct that could make a parser of YAML slow or deep, each with its name.
pub fn floods() -> Vec<(&'static str, String)> {
    let size: usize = 200_000;
    let repeat = |unit: &str| unit.repeat(size.checked_div(unit.len()).unwrap_or_default());
    let deep_block: String = (0..600).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let aliases: String =
        (0..20_000_u32).map(|n| format!("k{n}: &k{n} *k{}\n", n.max(1).wrapping_sub(1))).collect();
    vec![
        ("open brackets", repeat("[")),
        ("open braces", repeat("{")),
        ("brackets and braces", repeat("[{")),
        ("pairs", repeat("[]")),
        ("question marks", repeat("? ")),
        ("dashes", repeat("- ")),
        ("colons", repeat(": ")),
        ("anchors", repeat("&a ")),
        ("tags", repeat("!a ")),
        ("aliases", format!("a: &a x\nb: [{}]", repeat("*a,"))),
        ("alias chain", aliases),
        ("quotes", repeat("\"")),
        ("single quotes", repeat("'")),
        ("escapes", format!("a: \"{}\"", repeat("\\u0041"))),
        ("block scalars", repeat("a: |\n")),
        ("folded", format!("a: >\n{}", repeat("  x\n"))),
        ("deep block", deep_block),
        ("keys", (0..10_000).map(|n| format!("k{n}: v\n")).collect()),
        ("same keys", repeat("a: b\n")),
        ("comments", repeat("#\n")),
        ("directives", repeat("%YAML 1.2\n")),
        ("documents", repeat("---\n")),
        ("tabs", repeat("\t")),
        ("carriage returns", repeat("\r")),
        ("nul", repeat("\0")),
        ("non-ascii", repeat("é")),
        ("flow keys", format!("{{{}", repeat("a: b, "))),
        ("commas", format!("[{}", repeat(","))),
        ("one long plain", repeat("x")),
        ("one long key", format!("{}: x", repeat("x"))),
    ]
}
