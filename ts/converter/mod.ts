// Values, failures and durations on the wire. Pure; of the platform it asks only where this package's own code lies.
export * from "./duration.ts";
export * from "./enums.ts";
export * from "./failures.ts";
export * from "./failure_converter.ts";
export * from "./payload.ts";
export * from "./search_attributes.ts";
