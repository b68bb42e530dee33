// Deep imports of `@temporalio/common/lib/*` as one module: all exports of the package, and its
// helpers.
export * from "./mod.ts";
export { makeProtoEnumConverters } from "./enum_codecs.ts";
export { composeInterceptors, composeInterceptorsWith } from "./interceptors.ts";
export {
  decodeActivityCancellationType,
  decodeSuggestContinueAsNewReason,
  encodeActivityCancellationType,
  encodeSuggestContinueAsNewReason,
  suggestContinueAsNewReasonsFromProto,
} from "./policies.ts";
export { optionalDateToTs, requiredTsToDate, requiredTsToMs } from "./proto_time.ts";
export * from "./protobuf_converters.ts";
export * from "./reserved.ts";
export * from "./search_attribute_converters.ts";
export * from "./text.ts";
