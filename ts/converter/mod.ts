// Values, failures and durations on the wire. Pure, except for the location of this package's code.
export * from "./duration.ts";
export * from "./enums.ts";
export * from "./failures.ts";
export * from "./failure_converter.ts";
export * from "./payload.ts";
export * from "./search_attributes.ts";
