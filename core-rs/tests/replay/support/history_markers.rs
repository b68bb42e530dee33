//! Markers, search attributes and memo in histories: the part of the builder that knows how SDKs encode them.
use temporalex_core::api::common::v1::{Memo, Payload, SearchAttributes};
use temporalex_core::api::enums::v1::EventType;
use temporalex_core::api::failure::v1::Failure;
use temporalex_core::api::history::v1::history_event::Attributes;
use temporalex_core::api::history::v1::*;

use temporalex_core::boundary::{ActivityCompleted, LocalActivityResolution, local_activity_resolution};

use super::history::{BASE_SECONDS, HistoryBuilder, json, payloads};
use super::session::LocalResult;

impl HistoryBuilder {
    pub fn marker(self, name: &str, details: impl IntoIterator<Item = (&'static str, Payload)>) -> Self {
        self.marker_with(name, details, None)
    }

    pub fn marker_with(
        self,
        name: &str,
        details: impl IntoIterator<Item = (&'static str, Payload)>,
        failure: Option<Failure>,
    ) -> Self {
        let details = details.into_iter().map(|(key, value)| (key.to_string(), payloads([value]))).collect();
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::MarkerRecorded,
            Attributes::MarkerRecordedEventAttributes(MarkerRecordedEventAttributes {
                marker_name: name.into(),
                details,
                workflow_task_completed_event_id,
                failure,
                ..Default::default()
            }),
        )
    }

    pub fn patch_marker(self, patch_id: &str, deprecated: bool) -> Self {
        self.marker("core_patch", [("patch-data", json(&format!("{{\"id\":\"{patch_id}\",\"deprecated\":{deprecated}}}")))])
    }

    /// The form of old Cores: plain bytes in two details.
    pub fn patch_marker_old(self, patch_id: &str, deprecated: bool) -> Self {
        let plain = |data: Vec<u8>| Payload { data, ..Default::default() };
        self.marker("core_patch", [("patch_id", plain(patch_id.into())), ("deprecated", plain(vec![u8::from(deprecated)]))])
    }

    /// The upsert that follows a patch marker: all patch ids of the run so far, sorted.
    pub fn change_version_upsert(self, patch_ids: &[&str]) -> Self {
        let quoted: Vec<String> = patch_ids.iter().map(|id| format!("\"{id}\"")).collect();
        let mut value = json(&format!("[{}]", quoted.join(",")));
        value.metadata.insert("type".into(), b"KeywordList".to_vec());
        self.upsert([("TemporalChangeVersion", value)])
    }

    pub fn upsert(self, fields: impl IntoIterator<Item = (&'static str, Payload)>) -> Self {
        let indexed_fields = fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::UpsertWorkflowSearchAttributes,
            Attributes::UpsertWorkflowSearchAttributesEventAttributes(UpsertWorkflowSearchAttributesEventAttributes {
                workflow_task_completed_event_id,
                search_attributes: Some(SearchAttributes { indexed_fields }),
            }),
        )
    }

    pub fn properties_modified(self, fields: impl IntoIterator<Item = (&'static str, Payload)>) -> Self {
        let fields = fields.into_iter().map(|(key, value)| (key.to_string(), value)).collect();
        let workflow_task_completed_event_id = self.task_completed;
        self.add(
            EventType::WorkflowPropertiesModified,
            Attributes::WorkflowPropertiesModifiedEventAttributes(WorkflowPropertiesModifiedEventAttributes {
                workflow_task_completed_event_id,
                upserted_memo: Some(Memo { fields }),
            }),
        )
    }

    pub fn side_effect_marker(self, id: u32, value: Payload) -> Self {
        self.marker("SideEffect", [("side-effect-id", json(&id.to_string())), ("data", value)])
    }

    /// As the engine writes it: with what the reducer returned.
    pub fn transact_marker(self, id: u32, reducer: &str, result: Payload) -> Self {
        let details = [("id", json(&id.to_string())), ("reducer", json(&format!("\"{reducer}\""))), ("result", result)];
        self.marker("Transact", details)
    }

    pub fn transact_failure_marker(self, id: u32, reducer: &str, why: Failure) -> Self {
        let details = [("id", json(&id.to_string())), ("reducer", json(&format!("\"{reducer}\"")))];
        self.marker_with("Transact", details, Some(why))
    }

    /// A resolved local activity of type "la"; completed at the second of its marker.
    pub fn la_marker(self, seq: u32, activity_id: &str, result: Payload) -> Self {
        let data = self.la_data(seq, activity_id, "la", None);
        self.marker("core_local_activity", [("data", data), ("result", result)])
    }

    pub fn la_failure_marker(self, seq: u32, activity_id: &str, why: Failure) -> Self {
        let data = self.la_data(seq, activity_id, "la", None);
        self.marker_with("core_local_activity", [("data", data)], Some(why))
    }

    pub fn la_data(&self, seq: u32, activity_id: &str, activity_type: &str, activation_index: Option<u32>) -> Payload {
        let seconds = BASE_SECONDS + self.last_id() + 1;
        let index = activation_index.map(|i| format!(",\"activation_index\":{i}")).unwrap_or_default();
        json(&format!(
            "{{\"seq\":{seq},\"attempt\":1,\"activity_id\":\"{activity_id}\",\"activity_type\":\"{activity_type}\",\
             \"complete_time\":{{\"seconds\":{seconds},\"nanos\":0}},\"backoff\":null,\
             \"original_schedule_time\":{{\"seconds\":{BASE_SECONDS},\"nanos\":0}}{index}}}"
        ))
    }
}

/// What a marker of the builder says of its local activity; `None` for other attributes.
pub fn local_result(attributes: &Attributes) -> Option<LocalResult> {
    use local_activity_resolution::Result as R;
    let Attributes::MarkerRecordedEventAttributes(a) = attributes else { return None };
    if a.marker_name != "core_local_activity" {
        return None;
    }
    let data = String::from_utf8(a.details.get("data")?.payloads.first()?.data.clone()).ok()?;
    let number = |key: &str| {
        let rest = &data[data.find(&format!("\"{key}\":"))? + key.len() + 3..];
        let rest = rest.strip_prefix("{\"seconds\":").unwrap_or(rest);
        rest[..rest.find(|c: char| !c.is_ascii_digit())?].parse::<f64>().ok()
    };
    let result = match a.failure.as_ref() {
        Some(why) => {
            use temporalex_core::api::failure::v1::failure::FailureInfo::CanceledFailureInfo;
            let bytes = prost::Message::encode_to_vec(why);
            if matches!(why.failure_info, Some(CanceledFailureInfo(_))) { R::Cancelled(bytes) } else { R::Failed(bytes) }
        }
        None => R::Completed(ActivityCompleted { result: a.details.get("result").map(|p| p.payloads[0].clone()) }),
    };
    Some(LocalResult {
        resolution: LocalActivityResolution {
            seq: number("seq")? as u32,
            result: Some(result),
            attempt: number("attempt")? as u32,
            backoff_ms: number("backoff").unwrap_or(0.0) * 1000.0,
            original_schedule_time_ms: number("original_schedule_time").unwrap_or(0.0) * 1000.0,
            ..Default::default()
        },
        activation_index: number("activation_index").unwrap_or(0.0) as u32,
        complete_ms: number("complete_time").unwrap_or(0.0) * 1000.0,
    })
}
