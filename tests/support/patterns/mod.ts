// The scenarios of examples/patterns, by folder.
import { messages } from "./messages.ts";
import { operations } from "./operations.ts";
import { processes } from "./processes.ts";
import { several } from "./several.ts";
import { type Activities, type Pattern, recordCalls } from "./stage.ts";
import { waits } from "./waits.ts";
import { workloads } from "./workloads.ts";

export const patterns: { readonly [folder: string]: Pattern } = {
  ...messages,
  ...operations,
  ...processes,
  ...several,
  ...waits,
  ...workloads,
};

export const FORMS = ["native", "temporal"] as const;

/** Workflow code of all patterns in one form: `native.ts` or `temporal.ts` of this folder. */
export const workflowsOfForm = (form: typeof FORMS[number]): URL =>
  new URL(`./${form}.ts`, import.meta.url);

/** The activities of all patterns, which add their calls to `calls`. */
export function activitiesOfPatterns(calls: string[]): Activities {
  const all: { [name: string]: Activities[string] } = {};
  for (const [folder, { activities = {} }] of Object.entries(patterns)) {
    for (const [name, fn] of Object.entries(recordCalls(activities, calls))) {
      if (name in all) throw new Error(`${folder}: another pattern has an activity ${name}`);
      all[name] = fn;
    }
  }
  return all;
}
