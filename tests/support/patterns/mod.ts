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

/** The activities of all patterns; those of a folder add their calls to its list. */
export function activitiesOfPatterns(): {
  readonly activities: Activities;
  readonly callsOf: (folder: string) => string[];
} {
  const activities: { [name: string]: Activities[string] } = {};
  const calls = new Map<string, string[]>();
  for (const [folder, pattern] of Object.entries(patterns)) {
    const own: string[] = [];
    calls.set(folder, own);
    for (const [name, fn] of Object.entries(recordCalls(pattern.activities ?? {}, own))) {
      if (name in activities) throw new Error(`${folder}: another pattern has an activity ${name}`);
      activities[name] = fn;
    }
  }
  return { activities, callsOf: (folder) => calls.get(folder)! };
}
