//! Markers, and the JSON payloads that they hold.
use crate::proto::views::command::RecordMarkerCommandAttributes;
use crate::proto::views::common::{Payload, Payloads};
use crate::replay::json::Json;
use crate::wire::typed::{Encoded, Put, View, build};

/// Names of the markers that the core knows.
pub const PATCH: &str = "core_patch";
pub const LOCAL_ACTIVITY: &str = "core_local_activity";
pub const SIDE_EFFECT: &str = "SideEffect";
pub const TRANSACT: &str = "Transact";

/// A payload with encoding json/plain; `kind` is the type of a search attribute.
pub fn payload(json: &str, kind: Option<&str>) -> Encoded<Payload> {
    build(|w: Put<Payload>| {
        w.add_metadata("encoding", b"json/plain")
            .with(kind, |w, kind| w.add_metadata("type", kind.as_bytes()))
            .data(json.as_bytes())
    })
}

/// The data of the first payload.
pub fn first_data(payloads: View<'_, Payloads>) -> Option<&[u8]> {
    payloads.payloads().views().next().map(View::<Payload>::data)
}

/// The first payload's data, as JSON.
pub fn of_payloads(payloads: View<Payloads>) -> Option<Json> {
    Json::parse(first_data(payloads)?)
}

/// One entry of a marker's details: a key and the payload under it.
pub fn detail<'w>(
    w: Put<'w, RecordMarkerCommandAttributes>,
    key: &str,
    payload: Option<View<Payload>>,
) -> Put<'w, RecordMarkerCommandAttributes> {
    w.add_details(key, |w| w.with(payload, |w, payload| w.add_payloads(|w| w.all_of(payload))))
}
