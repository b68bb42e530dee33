// Interceptors that note each call, before it and after it, and pass a header on.
// deno-lint-ignore-file no-explicit-any
import * as wf from "@temporalio/workflow";
import { calls } from "./calls.ts";
const noted = (name: string) => async (input: any, next: any) => {
  calls.push(name);
  try {
    return await next({
      ...input,
      headers: { ...input.headers, [name]: wf.defaultPayloadConverter.toPayload(name) },
    });
  } finally {
    calls.push("/" + name);
  }
};
const plain = (name: string) => (input: any, next: any) => {
  calls.push(name);
  return next(input);
};
const all = (names: string[], wrap: any) =>
  Object.fromEntries(names.map((name) => [name, wrap(name)]));
export const interceptors = () => ({
  inbound: [all(["execute", "handleSignal", "handleUpdate"], noted), {
    execute: plain("inner"),
    validateUpdate: plain("validate"),
  }],
  outbound: [all(["startTimer", "scheduleActivity"], noted)],
  internals: [{
    activate(input: any, next: any) {
      calls.push("activate " + input.activation.jobs.map((job: any) => job.variant));
      next(input);
    },
    concludeActivation(input: any, next: any) {
      calls.push(
        "commands " +
          input.commands.flatMap((c: any) =>
            Object.keys(c).filter((k) => c[k] != null && k !== "userMetadata")
          ),
      );
      return next(input);
    },
  }],
});
