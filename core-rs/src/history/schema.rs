//! What is checked of an event's attributes when a history comes in: every field that the core reads or carries on. Fields of no
//! use to it are only walked over.
use crate::wire::schema::Kind::{Message, Numbers, Text, Varint};
use crate::wire::schema::{
    DURATION, EXECUTION, FAILURE, META, NAMED, PAYLOAD_MAP, PAYLOADS, PAYLOADS_ENTRY, SDK_METADATA, Schema, UPDATE_REQUEST,
    message,
};

static TASK_TIMED_OUT: Schema = Schema(&[(1, Varint), (2, Varint)]);
static RETRY_POLICY: Schema = Schema(&[(1, Message(&DURATION)), (3, Message(&DURATION)), (4, Varint), (5, Text)]);
static STARTED: Schema = Schema(&[
    (1, Message(&NAMED)),
    (5, Message(&NAMED)),
    (6, Message(&PAYLOADS)),
    (7, Message(&DURATION)),
    (8, Message(&DURATION)),
    (9, Message(&DURATION)),
    (10, Text),
    (14, Text),
    (16, Text),
    (17, Message(&RETRY_POLICY)),
    (18, Varint),
    (22, Message(&PAYLOAD_MAP)),
    (23, Message(&PAYLOAD_MAP)),
    (25, Message(&PAYLOAD_MAP)),
]);
static TASK_STARTED: Schema = Schema(&[(1, Varint), (4, Varint), (5, Varint), (8, Numbers)]);
static TASK_COMPLETED: Schema = Schema(&[(1, Varint), (2, Varint), (6, Message(&SDK_METADATA))]);
static TASK_FAILED: Schema = Schema(&[(1, Varint), (2, Varint), (3, Varint), (7, Text)]);
static ACTIVITY_SCHEDULED: Schema = Schema(&[(1, Text), (2, Message(&NAMED))]);
static FIRST_ID: Schema = Schema(&[(1, Varint)]);
static ACTIVITY_COMPLETED: Schema = Schema(&[(1, Message(&PAYLOADS)), (2, Varint), (3, Varint)]);
static ACTIVITY_FAILED: Schema = Schema(&[(1, Message(&FAILURE)), (2, Varint), (3, Varint), (4, Text), (5, Varint)]);
static ACTIVITY_TIMED_OUT: Schema = Schema(&[(1, Message(&FAILURE)), (2, Varint), (3, Varint), (4, Varint)]);
static ACTIVITY_CANCELED: Schema = Schema(&[(1, Message(&PAYLOADS)), (2, Varint), (3, Varint), (4, Varint), (5, Text)]);
static TIMER: Schema = Schema(&[(1, Text)]);
static TIMER_ANSWER: Schema = Schema(&[(1, Text), (2, Varint)]);
static MARKER: Schema = Schema(&[(1, Text), (2, Message(&PAYLOADS_ENTRY)), (5, Message(&FAILURE))]);
static SIGNALED: Schema = Schema(&[(1, Text), (2, Message(&PAYLOADS)), (3, Text), (4, Message(&PAYLOAD_MAP))]);
static CAUSE: Schema = Schema(&[(1, Text)]);
static UPSERT: Schema = Schema(&[(2, Message(&PAYLOAD_MAP))]);
static UPDATE_ACCEPTED: Schema = Schema(&[(1, Text), (2, Text), (3, Varint), (4, Message(&UPDATE_REQUEST))]);
static UPDATE_COMPLETED: Schema = Schema(&[(1, Message(&META))]);
static UPDATE_ADMITTED: Schema = Schema(&[(1, Message(&UPDATE_REQUEST))]);
static EXTERNAL_FAILED: Schema = Schema(&[(1, Varint), (5, Varint)]);
static CHILD_INITIATED: Schema = Schema(&[(2, Text), (3, Message(&NAMED))]);
static CHILD_START_FAILED: Schema = Schema(&[(4, Varint), (6, Varint)]);
static CHILD_STARTED: Schema = Schema(&[(2, Varint), (3, Message(&EXECUTION))]);
static CHILD_COMPLETED: Schema = Schema(&[(1, Message(&PAYLOADS)), (5, Varint)]);
static CHILD_FAILED: Schema = Schema(&[(1, Message(&FAILURE)), (5, Varint), (7, Varint)]);
static CHILD_CANCELED: Schema = Schema(&[(5, Varint)]);
static CHILD_TIMED_OUT: Schema = Schema(&[(4, Varint), (6, Varint)]);
static CHILD_TERMINATED: Schema = Schema(&[(4, Varint)]);
static NOTHING: Schema = Schema(&[]);

/// The check for attributes in this field of an event; `None`: they are not looked into.
pub fn of_attributes(field: u32) -> Option<&'static Schema> {
    Some(match field {
        6 => &STARTED,
        11 => &TASK_STARTED,
        12 => &TASK_COMPLETED,
        13 => &TASK_TIMED_OUT,
        14 => &TASK_FAILED,
        15 => &ACTIVITY_SCHEDULED,
        16 | 22 => &FIRST_ID,
        17 => &ACTIVITY_COMPLETED,
        18 => &ACTIVITY_FAILED,
        19 => &ACTIVITY_TIMED_OUT,
        20 => &TIMER,
        21 | 24 => &TIMER_ANSWER,
        23 => &ACTIVITY_CANCELED,
        25 => &MARKER,
        26 => &SIGNALED,
        28 => &CAUSE,
        31 | 43 => &EXTERNAL_FAILED,
        32 | 44 => &FIRST_ID,
        34 => &CHILD_INITIATED,
        35 => &CHILD_START_FAILED,
        36 => &CHILD_STARTED,
        37 => &CHILD_COMPLETED,
        38 => &CHILD_FAILED,
        39 => &CHILD_CANCELED,
        40 => &CHILD_TIMED_OUT,
        41 => &CHILD_TERMINATED,
        45 => &UPSERT,
        46 => &UPDATE_ACCEPTED,
        48 => &UPDATE_COMPLETED,
        52 => &UPDATE_ADMITTED,
        0 => return None,
        _ => &NOTHING,
    })
}

pub fn check(bytes: &[u8], schema: &'static Schema) -> Result<(), &'static str> {
    message(bytes, schema, 0)
}
