// `@temporalio/common/lib/*` on the host's side: beside what the realm has of it, histories and payloads as JSON.
export * from "./lib.ts";
export * from "./proto_utils.ts";
