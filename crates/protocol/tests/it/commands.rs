//! Each command is sent exactly as in its golden file, and the golden file reads back as that command.

use std::path::Path;

use expect_test::expect_file;
use sortie_protocol::{Command, TaskId};

#[test]
fn a_command_is_written_as_its_golden_file_says_and_reads_back() {
    let stop = Command::Stop { task: TaskId::from_random([1; 12]) };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/commands/stop.json");
    let text = serde_json::to_string_pretty(&stop).expect("commands are plain data") + "\n";
    expect_file![&file].assert_eq(&text);
    assert_eq!(serde_json::from_str::<Command>(&text).expect("a golden file reads back"), stop);
    assert_eq!(stop.task(), Some(TaskId::from_random([1; 12])));
}

#[test]
fn a_command_of_a_later_version_is_skipped_not_an_error() {
    let command: Command = serde_json::from_str(r#"{"type":"dance","task":"agent-bbbbbbbbbbbb"}"#).expect("it is read");
    assert_eq!(command, Command::Unknown);
    assert_eq!(command.task(), None);
}
