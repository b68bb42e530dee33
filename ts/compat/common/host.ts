// `@temporalio/common/lib/*` on the host: the realm's part, and codecs, histories and payloads as
// JSON.
export * from "./lib.ts";
export * from "./codec_helpers.ts";
// In both modules: an explicit export resolves the ambiguity of `*`.
export { decode, encode } from "./codec_helpers.ts";
export * from "./proto_utils.ts";
