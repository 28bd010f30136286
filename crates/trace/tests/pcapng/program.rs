//! The program `tshark` (package `tshark` of Debian and Ubuntu). The tests of captures in `sim` use
//! this file, too.

use std::path::Path;
use std::process::Command;

/// Preferences with which tshark checks everything that it can check.
pub(crate) const CHECKS: [&str; 4] = [
    "wlan.check_checksum:TRUE",
    "ip.check_checksum:TRUE",
    "tcp.check_checksum:TRUE",
    "udp.check_checksum:TRUE",
];
/// Its severity `PI_ERROR`.
pub(crate) const ERROR: u32 = 0x0080_0000;

/// Whether tshark is installed. In CI it has to be.
pub(crate) fn is_installed(test: &str) -> bool {
    let run = Command::new("tshark").arg("--version").output();
    let found = run.is_ok_and(|output| output.status.success());
    assert!(found || std::env::var_os("CI").is_none(), "CI needs the package tshark");
    if !found {
        eprintln!("{test} is skipped: it needs the package tshark");
    }
    found
}

/// Runs tshark on a capture, without preferences of the user.
pub(crate) fn tshark(capture: &Path, arguments: &[&str]) -> String {
    let folder = capture.parent().unwrap();
    let mut command = Command::new("tshark");
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder);
    let output = command.arg("-n").arg("-r").arg(capture).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The values of fields in each packet of a capture; several values are separated by commas.
pub(crate) fn fields(capture: &Path, preferences: &[&str], fields: &[&str]) -> Vec<Vec<String>> {
    let mut arguments = vec!["-T", "fields"];
    arguments.extend(preferences.iter().flat_map(|it| ["-o", it]));
    arguments.extend(fields.iter().flat_map(|it| ["-e", it]));
    let text = tshark(capture, &arguments);
    text.lines().map(|line| line.split('\t').map(String::from).collect()).collect()
}
