// `@temporalio/common/lib/*` on the host's side: beside what the realm has of it, codecs, histories and payloads as JSON.
export * from "./lib.ts";
export * from "./codec_helpers.ts";
// Of both modules, with the forms of both: a name that is exported by itself takes the place of what `*` would make ambiguous.
export { decode, encode } from "./codec_helpers.ts";
export * from "./proto_utils.ts";
