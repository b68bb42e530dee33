// `@temporalio/common`, as far as workflow code uses it.
export * from "./errors.ts";
export * from "./failures.ts";
export * from "./options.ts";
export type { Duration } from "./time.ts";
export { defaultPayloadConverter, type Payload, type PayloadConverter } from "../../converter/payload.ts";
