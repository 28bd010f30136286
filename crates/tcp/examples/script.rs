//! Runs scripts and prints their transcripts: `cargo run -p simoom-tcp --example script FILE...`

use tcp::script;

fn main() {
    for path in std::env::args().skip(1) {
        println!("{path}");
        let text = std::fs::read_to_string(&path).expect("the script can be read");
        let transcript = script::run(&text);
        for line in &transcript.lines {
            let at = line.at.0 as f64 / 1e9;
            println!("  {at:10.6}  {:9}  {}", line.kind.name(), line.text);
        }
        match transcript.failure {
            None => println!("  passed"),
            Some(failure) => println!("  FAILED line {}: {}", failure.line, failure.message),
        }
    }
}
