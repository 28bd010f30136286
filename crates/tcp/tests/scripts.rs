//! Runs every script of `tests/scripts`; its expectations must hold.

use crate::corpus::scripts;
use tcp::script;

#[test]
fn every_script_passes() {
    let scripts = scripts();
    assert!(scripts.len() >= 200, "{} scripts", scripts.len());
    let mut failures = Vec::new();
    for (name, text) in &scripts {
        if let Some(failure) = script::run(text).failure {
            failures.push(format!("{name}:{}: {}", failure.line, failure.message));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A script whose expectations are changed must fail; otherwise it proves nothing.
#[test]
fn a_changed_script_fails() {
    for (name, text) in scripts() {
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some((time, expected)) = line.split_once("> ") else { continue };
            if line.trim_start().starts_with("//") || !line.contains('(') || line.contains('%') {
                continue;
            }
            // Another number of bytes is another segment.
            let Some((before, after)) = expected.split_once(':') else { continue };
            let digits = before.chars().rev().take_while(char::is_ascii_digit).count();
            let (flags, first) = before.split_at(before.len() - digits);
            let Some((_, rest)) = after.split_once(')') else { continue };
            let first: u64 = first.parse().unwrap();
            let changed = format!("{time}> {flags}{first}:{}(7777){rest}", first + 7777);
            let mut lines: Vec<&str> = lines.clone();
            lines[index] = &changed;
            let transcript = script::run(&lines.join("\n"));
            let failure = transcript.failure;
            let line = failure.as_ref().map(|failure| failure.line);
            assert_eq!(line, Some(index + 1), "{name}: {failure:?}");
        }
    }
}

/// What a script cannot mean is refused in one message with its line and what to write instead.
#[test]
fn a_wrong_word_has_its_line_and_a_remedy() {
    let cases = [
        (
            "0.1 corck",
            "\"corck\" is no event; an event is connect, listen, accept, write, read, cork",
        ),
        ("0.1 < [ect2] . 1:1(0) ack 1", "[ect2] is no ECN field: [ect0], [ect1], [ce] or [noecn]"),
        ("0.1 < SQ 0:0(0)", "'Q' in \"SQ\" is no flag; flags are SFPREWA."),
        ("set endpoint client", "endpoint: "),
        ("set nagle always", "nagle: "),
        ("0.1 cork", "this end receives: a script with write, or with `set endpoint sender`,"),
        ("0.1 assert state == open", "open: a state is one of closed, listen, syn_sent,"),
        ("0.1 assert state < closed", "state < closed: states have no order; write == or !="),
        ("0.1 assert reorderings == 1", "\"reorderings\" is no gauge of this end"),
        ("0.1 %{ assert state == listen }% quiet", "\"quiet\" follows }%"),
    ];
    for (line, message) in cases {
        let failure = script::run(&format!("listen\n{line}\n+0 quiet")).failure.unwrap();
        assert_eq!(failure.line, 2, "{line}: {}", failure.message);
        assert!(failure.message.starts_with(message), "{line}: {}", failure.message);
        assert!(!failure.message.contains('\n'));
    }
    let both = "set endpoint receiver\nconnect";
    let message = script::run(both).failure.unwrap().message;
    assert_eq!(message, "connect: the receiver waits for the SYN; write listen");
    let settings = "set fec.units 5\nset nagle nagle\nwrite 1";
    let failure = script::run(settings).failure.unwrap();
    assert!(failure.line == 2 && failure.message.contains("keep nagle = \"off\""), "{failure:?}");
}

/// As the selftests of Linux write them: Python, with a message behind the comparison, in blocks
/// over several lines.
#[test]
fn assertions_have_messages_and_go_over_lines() {
    let opening = "set initial_window_segments 10\n0 connect\n+0 > S 0:0(0) <...>\n\
                   +.1 < S. 0:0(0) ack 1 win 65535 <mss 1000,nop,wscale 7>\n+0 > . 1:1(0) ack 1\n";
    let line = |assertion: &str| script::run(&format!("{opening}{assertion}\n"));
    for assertion in [
        "+0 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%",
        "+0 %{ assert tcpi_snd_cwnd == 10, 'cwnd == %d, not 10' % tcpi_snd_cwnd }%",
        "+0 %{ assert(tcpi_snd_cwnd == 10); assert tcpi_unacked == 0, tcpi_unacked; }%",
        "+0 %{\nassert tcpi_snd_cwnd == 10, tcpi_snd_cwnd\n\n  assert (tcpi_unacked == 0)\n}%",
        "+0 %{ assert tcpi_snd_cwnd == 10 # ten\n}%",
    ] {
        let found = line(assertion);
        assert_eq!(found.failure, None, "{assertion}");
        assert!(found.lines.iter().any(|line| line.kind == script::Kind::Assertion));
    }
    let open = line("+0 %{ assert tcpi_snd_cwnd == 10").failure.unwrap();
    assert_eq!((open.line, &*open.message), (6, "the block %{ has no end }%"));
    let failed = line("+0 %{\nassert tcpi_snd_cwnd == 10\nassert tcpi_unacked == 3, 'three'\n}%");
    let failure = failed.failure.unwrap();
    assert_eq!((failure.line, &*failure.message), (8, "tcpi_unacked == 3: is 0"));
}
