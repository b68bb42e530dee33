// `@temporalio/common`, as far as workflow code uses it.
export * from "./errors.ts";
export * from "./failures.ts";
export * from "./options.ts";
export {
  defineSearchAttributeKey,
  type SearchAttributeKey,
  type SearchAttributePair,
  type SearchAttributes,
  SearchAttributeType,
  type SearchAttributeUpdatePair,
  type SearchAttributeValue,
  TypedSearchAttributes,
} from "./search_attributes.ts";
export type { Duration } from "./time.ts";
export { jsonPayloadConverter as defaultPayloadConverter, type Payload, type PayloadConverter } from "../../converter/payload.ts";
