// The deep imports of `@temporalio/common/lib/*` that programs and libraries have, as one module: all that the package exports, and its helpers.
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
