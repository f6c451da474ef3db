use std::time::Instant;
fn main(){
    let size = 200_000usize;
    let repeat = |unit: &str| unit.repeat(size / unit.len());
    let aliases: String = (0..20_000).map(|n| format!("k{n}: &k{n} *k{}\n", n - i32::from(n > 0))).collect();
    let cases: Vec<(&str,String)> = vec![
        ("open brackets", repeat("[")),("open braces", repeat("{")),("brackets and braces", repeat("[{")),("pairs", repeat("[]")),("question marks", repeat("? ")),("dashes", repeat("- ")),("colons", repeat(": ")),("anchors", repeat("&a ")),("tags", repeat("!a ")),("aliases", format!("a: &a x\nb: [{}]", repeat("*a,"))),("alias chain", aliases),("quotes", repeat("\"")),("single quotes", repeat("'")),("escapes", format!("a: \"{}\"", repeat("\\u0041"))),("block scalars", repeat("a: |\n")),("folded", format!("a: >\n{}", repeat("  x\n"))),("deep block", (0..600).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),("keys", (0..10_000).map(|n| format!("k{n}: v\n")).collect()),("same keys", repeat("a: b\n")),("comments", repeat("#\n")),("directives", repeat("%YAML 1.2\n")),("documents", repeat("---\n")),("tabs", repeat("\t")),("carriage returns", repeat("\r")),("nul", repeat("\0")),("non-ascii", repeat("é")),("flow keys", format!("{{{}", repeat("a: b, "))),("flow keys unique", format!("{{{}", (0..20000).map(|n| format!("k{n}: b, ")).collect::<String>())),("flow closed", format!("{{{}}}", (0..20000).map(|n| format!("k{n}: b, ")).collect::<String>())),("commas", format!("[{}", repeat(","))),("flow seq", format!("[{}", repeat("a, "))),("one long plain", repeat("x")),("one long key", format!("{}: x", repeat("x"))),
    ];
    for (n,t) in cases { let r = format!("{{\"schemaVersion\":1,\"install\":{{\"id\":\"i\"}},\"workspace\":{{\"id\":\"a\",\"instanceId\":\"b\",\"repositoryId\":\"c\",\"repoPath\":\"/r\"}},\"choices\":{{\"enabled\":true}},\"globalSettings\":{{\"experimentalContainerWorkspaces\":true}},\"host\":{{\"platform\":\"linux\"}},\"orcaYaml\":{{\"path\":\"orca.yaml\",\"text\":{}}}}}", serde_json::to_string(&t).unwrap());
      let b=Instant::now(); let a=orca_container_core::json::plan(&r); println!("{n:22} {:8.1} ms {} bytes", b.elapsed().as_secs_f64()*1e3, a.len()); }
}
