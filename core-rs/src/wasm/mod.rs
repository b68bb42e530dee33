//! The wasm-bindgen surface: bytes and scalars only, synchronous, never calls back. Names and order equal what ts/core/run.ts and
//! ts/core/engine.ts call.
//!
//! It is built twice, as two modules that are loaded where they are needed: with the feature
//! `replay` for the worker's half, with `engine` for the engine's. This file's code is in both;
//! their memory is separate.
//!
//! Methods throw a plain `JsError` with the text; `take_error` returns the same error as data until
//! the next call.
#[cfg(feature = "engine")]
mod engine;
#[cfg(feature = "replay")]
mod replay;

use prost::Message;
use wasm_bindgen::prelude::*;

use crate::boundary::{CoreError, CoreInfo};
use crate::error::Result;

/// Keeps the last error as data and turns it into an exception.
#[derive(Default)]
struct LastError(Option<Box<CoreError>>);

impl LastError {
    fn guard<T>(&mut self, result: Result<T>) -> std::result::Result<T, JsError> {
        result.map_err(|e| {
            let js = JsError::new(&e.message);
            self.0 = Some(e);
            js
        })
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        self.0.take().map(|e| e.encode_to_vec())
    }
}

thread_local! {
    static PANIC: std::cell::RefCell<Option<String>> = const { std::cell::RefCell::new(None) };
}

/// A panic aborts (unwinding would make the module a third larger); its words are kept for the caller, who sees only a trap.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|info| PANIC.with(|p| *p.borrow_mut() = Some(info.to_string()))));
}

/// What the last panic said, once.
#[wasm_bindgen]
pub fn take_panic() -> Option<String> {
    PANIC.with(|p| p.borrow_mut().take())
}

/// Bytes of boundary.CoreInfo.
#[wasm_bindgen]
pub fn core_info() -> Vec<u8> {
    CoreInfo { version: crate::VERSION.into(), source_hash: crate::SOURCE_HASH.into() }.encode_to_vec()
}
