//! Constants and small values that histories and programs of tests share.
use std::collections::BTreeMap;

use temporalex_core::api::common::v1::{Payload, Payloads};
use temporalex_core::api::failure::v1::failure::FailureInfo;
use temporalex_core::api::failure::v1::{ApplicationFailureInfo, Failure};
use temporalex_core::api::update::v1::{Input, Meta, Request};

pub const BASE_SECONDS: i64 = 1_700_000_000;
pub const WORKFLOW_TYPE: &str = "wf";
pub const WORKFLOW_ID: &str = "wf-id";
pub const RUN_ID: &str = "86E39A5F-AE31-4626-BDFE-398EE072D156";
pub const TASK_QUEUE: &str = "q";

/// A json/plain payload holding the given JSON text.
pub fn json(text: &str) -> Payload {
    Payload {
        metadata: BTreeMap::from([("encoding".to_string(), b"json/plain".to_vec())]),
        data: text.as_bytes().to_vec(),
        ..Default::default()
    }
}

pub fn payloads(items: impl IntoIterator<Item = Payload>) -> Payloads {
    Payloads { payloads: items.into_iter().collect() }
}

/// An application failure with this text and type "Err".
pub fn failure(message: &str) -> Failure {
    Failure {
        message: message.into(),
        failure_info: Some(FailureInfo::ApplicationFailureInfo(ApplicationFailureInfo {
            r#type: "Err".into(),
            ..Default::default()
        })),
        ..Default::default()
    }
}

pub fn update_request(update_id: &str, name: &str) -> Request {
    Request {
        meta: Some(Meta { update_id: update_id.into(), identity: "client".into() }),
        input: Some(Input { header: None, name: name.into(), args: Some(payloads([json("1")])) }),
        ..Default::default()
    }
}
