//! Real histories for tests: the published ones, those recorded by the official SDK, and four large ones. They are next to
//! the checkout; if they are missing, or if Node cannot convert them, the test that needs them reports so by name and does
//! nothing.
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use prost::Message as _;
use temporalex_core::api::history::v1::{History, HistoryEvent};

/// Histories by name, in order.
pub type Histories = BTreeMap<String, Vec<HistoryEvent>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Not captured by the test runner: a skipped test is to be seen.
pub fn skip(test: &str, reason: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
}

/// All real histories; `None`, and a message with the name of the skipped test, if they are missing.
pub fn histories(test: &str) -> Option<&'static Histories> {
    static FOUND: OnceLock<Result<Histories, String>> = OnceLock::new();
    match FOUND.get_or_init(load) {
        Ok(found) => Some(found),
        Err(reason) => {
            skip(test, reason);
            None
        }
    }
}

/// Converts them into a folder of this test binary, once.
fn load() -> Result<Histories, String> {
    let fixtures = root().join("../shared/fixtures");
    if !fixtures.is_dir() {
        return Err("no ../shared/fixtures next to the checkout".into());
    }
    let own = std::env::current_exe().ok().and_then(|exe| Some(exe.file_stem()?.to_owned())).unwrap_or_default();
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("histories").join(own);
    let _ = fs::remove_dir_all(&out);
    for (folder, prefix) in [("histories", "histories"), ("compat/corpus", "compat")] {
        let script = root().join("tools/histories_to_bin.mjs");
        let done = Command::new("node").arg(script).arg(fixtures.join(folder)).arg(out.join(prefix)).output();
        let done = done.map_err(|error| format!("no node to convert histories: {error}"))?;
        if !done.status.success() {
            return Err(format!("histories are not converted: {}", String::from_utf8_lossy(&done.stderr)));
        }
    }
    let mut found = Histories::new();
    read_folder(&out, &out, &mut found);
    read_folder(&fixtures.join("bench"), &fixtures, &mut found);
    assert!(found.len() > 100, "the fixtures are incomplete: {} histories", found.len());
    Ok(found)
}

fn read_folder(folder: &Path, base: &Path, found: &mut Histories) {
    for entry in fs::read_dir(folder).expect("a folder of fixtures").flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_folder(&path, base, found);
        } else if path.extension().is_some_and(|e| e == "bin") {
            let bytes = fs::read(&path).expect("a history");
            let history = History::decode(bytes.as_slice()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let name = path.strip_prefix(base).expect("below").with_extension("");
            found.insert(name.display().to_string(), history.events);
        }
    }
}

/// At most `most` numbers of 1..=last, evenly spread, with both ends.
pub fn spread(last: usize, most: usize) -> Vec<usize> {
    if last <= most {
        return (1..=last).collect();
    }
    let mut chosen: Vec<usize> = (0..most).map(|i| 1 + i * (last - 1) / (most - 1)).collect();
    chosen.dedup();
    chosen
}
