//! Internal flags and SDK metadata (docs/dev/semantics/errors.md#flags).
//!
//! A flag in history switches a behaviour on for the replay of that part; live tasks use all known flags and record the new ones.
//! Temporalex adds no flags, because official workers must be able to take a run over. Language flags are the caller's.

use crate::error::{Result, codes, unsupported};
use crate::proto::views::history::WorkflowTaskCompletedEventAttributes;
use crate::proto::views::sdk::WorkflowTaskCompletedMetadata;
use crate::sorted::SortedSet;
use crate::wire::typed::{Encoded, Put, View, build};

/// Core's flags that are written by live tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CoreFlag {
    /// Activity id and type are compared with the event.
    IdAndTypeChecks = 1,
    /// A patch is followed by the upsert of the list of patches.
    UpsertOnPatch = 2,
    /// Commands behind a terminal one are moved before it.
    MoveTerminal = 3,
}

const WRITTEN: [u32; 3] = [1, 2, 3];
/// Written by newer Cores for their second boundary rule; `history` honours it.
const WFT_CHUNKING_V2: u32 = 4;

#[derive(Clone, Debug, Default)]
pub struct Flags {
    core: SortedSet<u32>,
    lang: SortedSet<u32>,
    sdk_name: String,
    sdk_version: String,
    /// Build id of the worker that completed the task being replayed; empty in a live task.
    build_id: String,
    deployment_name: String,
}

impl Flags {
    /// History holds the flag.
    pub fn recorded(&self, flag: CoreFlag) -> bool {
        self.core.contains(&(flag as u32))
    }

    /// Whether the behaviour is on.
    pub fn on(&self, flag: CoreFlag, replaying: bool) -> bool {
        !replaying || self.recorded(flag)
    }

    pub fn build_id(&self) -> &str {
        &self.build_id
    }

    pub fn deployment_name(&self) -> &str {
        &self.deployment_name
    }

    /// A task begins of which no completion is known so far.
    pub fn begin_task(&mut self) {
        self.build_id.clear();
        self.deployment_name.clear();
    }

    /// Who completed the task: its build id, or the checksum, which workers gave their build id as before there was a field for it.
    pub fn completed_by(&mut self, completed: View<WorkflowTaskCompletedEventAttributes>) {
        if let Some(version) = completed.opt_deployment_version().filter(|version| !version.build_id().is_empty()) {
            self.build_id = version.build_id().into();
            self.deployment_name = version.deployment_name().into();
            return;
        }
        self.deployment_name.clear();
        let stamped = completed.opt_worker_version().map_or("", |version| version.build_id());
        self.build_id = if stamped.is_empty() { completed.binary_checksum() } else { stamped }.into();
    }

    pub fn lang(&self) -> Vec<u32> {
        self.lang.iter().copied().collect()
    }

    /// Merges the record of a completed task. Rejects unknown flags.
    pub fn record(&mut self, m: View<WorkflowTaskCompletedMetadata>, known_lang: &[u32]) -> Result<()> {
        for flag in m.core_used_flags() {
            if !WRITTEN.contains(&flag) && flag != WFT_CHUNKING_V2 {
                let text = format!("The history was written with internal core flag {flag}, which this version does not know");
                return Err(unsupported(codes::UNKNOWN_CORE_FLAG, text));
            }
            self.core.insert(flag);
        }
        for flag in m.lang_used_flags() {
            if !known_lang.contains(&flag) {
                let text = format!("The history was written with language flag {flag}, which this version does not know");
                return Err(unsupported(codes::UNKNOWN_LANG_FLAG, text));
            }
            self.lang.insert(flag);
        }
        for (recorded, new) in [(&mut self.sdk_name, m.sdk_name()), (&mut self.sdk_version, m.sdk_version())] {
            if !new.is_empty() {
                *recorded = new.into();
            }
        }
        Ok(())
    }

    /// What a completion has to record; only what history does not hold yet.
    pub fn to_write(&self, sdk_name: &str, sdk_version: &str, used_lang: &[u32]) -> Encoded<WorkflowTaskCompletedMetadata> {
        let core: Vec<u32> = WRITTEN.into_iter().filter(|f| !self.core.contains(f)).collect();
        let lang: Vec<u32> = used_lang.iter().copied().filter(|f| !self.lang.contains(f)).collect();
        build(|w: Put<WorkflowTaskCompletedMetadata>| {
            w.core_used_flags(&core)
                .lang_used_flags(&lang)
                .sdk_name(if sdk_name == self.sdk_name { "" } else { sdk_name })
                .sdk_version(if sdk_version == self.sdk_version { "" } else { sdk_version })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::sdk::v1::WorkflowTaskCompletedMetadata;
    use crate::wire::Message;
    use prost::Message as _;

    fn record(flags: &mut Flags, m: &WorkflowTaskCompletedMetadata, known_lang: &[u32]) -> Result<()> {
        flags.record(View::of(Message(&m.encode_to_vec())), known_lang)
    }

    fn to_write(flags: &Flags, sdk_name: &str, sdk_version: &str, used_lang: &[u32]) -> WorkflowTaskCompletedMetadata {
        let written = flags.to_write(sdk_name, sdk_version, used_lang);
        WorkflowTaskCompletedMetadata::decode(written.view().bytes()).unwrap()
    }

    /// The first completion records 1, 2, 3; later ones nothing. Name and version only on change.
    #[test]
    fn only_news_is_written() {
        let mut flags = Flags::default();
        let first = to_write(&flags, "temporalex-ts", "1.0", &[]);
        assert_eq!(first.core_used_flags, [1, 2, 3]);
        assert_eq!((first.sdk_name.as_str(), first.sdk_version.as_str()), ("temporalex-ts", "1.0"));
        record(&mut flags, &first, &[]).unwrap();
        assert_eq!(to_write(&flags, "temporalex-ts", "1.0", &[]), WorkflowTaskCompletedMetadata::default());
        assert_eq!(to_write(&flags, "temporalex-ts", "1.1", &[]).sdk_version, "1.1");
    }

    #[test]
    fn language_flags_in_use_are_written_once() {
        let mut flags = Flags::default();
        let first = to_write(&flags, "x", "1", &[1, 2]);
        assert_eq!(first.lang_used_flags, [1, 2]);
        let other_sdk = WorkflowTaskCompletedMetadata { lang_used_flags: vec![1], ..Default::default() };
        record(&mut flags, &other_sdk, &[1, 2]).unwrap();
        assert_eq!(to_write(&flags, "x", "1", &[1, 2]).lang_used_flags, [2]);
        record(&mut flags, &first, &[1, 2]).unwrap();
        assert!(to_write(&flags, "x", "1", &[1, 2]).lang_used_flags.is_empty());
    }

    /// The build id, or the checksum without one.
    #[test]
    fn the_build_id_of_a_task_is_where_its_worker_put_it() {
        use crate::api::common::v1::WorkerVersionStamp;
        use crate::api::history::v1::WorkflowTaskCompletedEventAttributes;
        let seen = |checksum: &str, stamp: &str| {
            let completed = WorkflowTaskCompletedEventAttributes {
                binary_checksum: checksum.into(),
                worker_version: Some(WorkerVersionStamp { build_id: stamp.into(), ..Default::default() }),
                ..Default::default()
            };
            let mut flags = Flags::default();
            flags.completed_by(View::of(Message(&completed.encode_to_vec())));
            let id = flags.build_id().to_string();
            flags.begin_task();
            assert_eq!(flags.build_id(), "");
            id
        };
        assert_eq!(seen("sum", ""), "sum");
        assert_eq!(seen("sum", "stamp"), "stamp");
        assert_eq!(seen("", ""), "");
    }

    #[test]
    fn unknown_flags_are_refused_by_number() {
        let mut flags = Flags::default();
        let core = WorkflowTaskCompletedMetadata { core_used_flags: vec![4, 99], ..Default::default() };
        let e = record(&mut flags, &core, &[]).unwrap_err();
        assert_eq!(e.code, codes::UNKNOWN_CORE_FLAG);
        assert!(e.message.contains("99"));
        let lang = WorkflowTaskCompletedMetadata { lang_used_flags: vec![1, 7], ..Default::default() };
        assert_eq!(record(&mut flags, &lang, &[1]).unwrap_err().code, codes::UNKNOWN_LANG_FLAG);
        assert_eq!(flags.lang(), [1]);
    }
}
