// What the option walk compares: commands of workflows, their options as the declarations of the
// installed official packages name them, and values for each.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { official, root } from "../support/official.ts";

const modules = join(root, "tests/system/interop/node_modules/@temporalio");

/** Names of the members of an interface in a declaration file, without those of its bases. */
function membersOf(file: string, name: string): string[] {
  const text = readFileSync(join(modules, file), "utf8").replace(
    /\/\*[\s\S]*?\*\//g,
    "",
  );
  const body = new RegExp(`\\b(?:interface|type) ${name}\\b[^{;]*\\{([^}]*)\\}`).exec(
    text,
  )?.[1];
  assert.ok(body !== undefined, `${file} has no interface ${name}`);
  return [...body.matchAll(/^\s*(?:readonly\s+)?(\w+)\??:/gm)].map((match) => match[1]!);
}

/** Members of an enumeration: values, in both spellings. */
const enumeration = (packageName: string, name: string): unknown[] => {
  const found = official(packageName)[name] as { [member: string]: unknown };
  return [...new Set([...Object.keys(found), ...Object.values(found)])].filter((
    value,
  ) => value !== undefined);
};

type Values = { readonly [option: string]: readonly unknown[] };
interface Command {
  readonly name: string;
  readonly members: () => string[];
  readonly values: Values;
  /**
   * Options that other rows cover, or another test
   * (tests/system/interop/compat_event_groups.test.ts), or that cannot be given in this form.
   */
  readonly elsewhere?: readonly string[];
}

const DURATIONS = [2500, "90 seconds", 1.5];
const RETRY = [
  { maximumAttempts: 3 },
  { maximumAttempts: "$infinity" },
  {
    initialInterval: "2s",
    backoffCoefficient: 1.5,
    maximumInterval: "1 minute",
    nonRetryableErrorTypes: ["A", "B"],
  },
  { initialInterval: 0.5 },
];
const PRIORITY = [
  { priorityKey: 2 },
  { fairnessKey: "tenant", fairnessWeight: 2.5 },
  { priorityKey: 5, fairnessKey: "x" },
  {},
];
const INTENTS = ["COMPATIBLE", "DEFAULT"];
const MEMO = [{ a: 1, b: [true, null], c: { d: "e" } }, {}];
const SEARCH = [{ WalkKeyword: ["one"] }, { WalkInt: [5] }, {
  WalkTime: [{ $date: "2026-01-02T03:04:05.678Z" }],
}];
const TYPED = [
  [{ key: { name: "WalkKeyword", type: "KEYWORD" }, value: "one" }],
  [{ key: { name: "WalkInt", type: "INT" }, value: 7 }, {
    key: { name: "WalkBool", type: "BOOL" },
    value: false,
  }],
  [{ key: { name: "WalkList", type: "KEYWORD_LIST" }, value: ["a", "b"] }],
];

/** All commands that have options. */
export const COMMANDS: readonly Command[] = [
  {
    name: "activity",
    members: () => [
      ...membersOf("common/lib/activity-options.d.ts", "ActivityOptions"),
      ...membersOf("workflow/lib/activities.d.ts", "ActivityOptions"),
      ...membersOf("workflow/lib/workflow.d.ts", "ActivityProxyOptions"),
    ],
    values: {
      activityTypeInfo: [{ work: "$types" }],
      activityId: ["mine"],
      taskQueue: ["elsewhere", ""],
      heartbeatTimeout: DURATIONS,
      retry: RETRY,
      startToCloseTimeout: DURATIONS,
      scheduleToStartTimeout: DURATIONS,
      scheduleToCloseTimeout: DURATIONS,
      cancellationType: [],
      allowEagerDispatch: [true, false],
      versioningIntent: INTENTS,
      summary: ["a line", ""],
      priority: PRIORITY,
    },
    elsewhere: ["eventGroups"],
  },
  {
    name: "local activity",
    members: () => [
      ...membersOf("common/lib/activity-options.d.ts", "LocalActivityOptions"),
      ...membersOf("workflow/lib/activities.d.ts", "LocalActivityOptions"),
      ...membersOf("workflow/lib/workflow.d.ts", "LocalActivityProxyOptions"),
    ],
    values: {
      activityTypeInfo: [{ work: "$types" }],
      retry: RETRY,
      startToCloseTimeout: [2500, "90 seconds"],
      scheduleToStartTimeout: [2500, "90 seconds"],
      scheduleToCloseTimeout: [2500, "90 seconds"],
      localRetryThreshold: DURATIONS,
      cancellationType: [],
      summary: ["a line"],
    },
    elsewhere: ["eventGroups"],
  },
  {
    name: "child",
    members: () => [
      ...membersOf("workflow/lib/interfaces.d.ts", "ChildWorkflowOptions"),
      ...membersOf("common/lib/workflow-options.d.ts", "BaseWorkflowOptions"),
      ...membersOf(
        "common/lib/workflow-options.d.ts",
        "WorkflowDurationOptions",
      ),
    ],
    values: {
      typeInfo: ["$types"],
      workflowId: ["mine"],
      taskQueue: ["elsewhere", ""],
      cancellationType: [],
      parentClosePolicy: [],
      workflowIdReusePolicy: [],
      versioningIntent: INTENTS,
      retry: RETRY,
      cronSchedule: ["@every 1h"],
      memo: MEMO,
      searchAttributes: SEARCH,
      typedSearchAttributes: TYPED,
      staticSummary: ["a line"],
      staticDetails: ["more\nlines"],
      priority: PRIORITY,
      workflowRunTimeout: DURATIONS,
      workflowExecutionTimeout: DURATIONS,
      workflowTaskTimeout: [2500, "30 seconds"],
    },
    // ChildWorkflowOptions leaves the second one out.
    elsewhere: ["eventGroups", "workflowIdConflictPolicy"],
  },
  {
    name: "continue as new",
    members: () => membersOf("workflow/lib/interfaces.d.ts", "ContinueAsNewOptions"),
    values: {
      typeInfo: ["$types"],
      workflowType: ["walk"],
      taskQueue: ["elsewhere"],
      workflowRunTimeout: DURATIONS,
      workflowTaskTimeout: [2500, "30 seconds"],
      backoffStartInterval: ["1 hour", 1500],
      memo: MEMO,
      searchAttributes: SEARCH,
      typedSearchAttributes: TYPED,
      versioningIntent: INTENTS,
      initialVersioningBehavior: [],
    },
    elsewhere: ["eventGroups"],
  },
  {
    name: "timer",
    members: () => membersOf("workflow/lib/interceptors.d.ts", "TimerOptions"),
    values: { summary: ["a line", ""] },
    elsewhere: ["eventGroups"],
  },
  {
    name: "condition",
    members: () => membersOf("workflow/lib/interceptors.d.ts", "TimerOptions"),
    values: { summary: ["a line"] },
    elsewhere: ["eventGroups"],
  },
];

/** Enumerations by command and option: the members are read from the package. */
const ENUMS: readonly (readonly [
  command: string,
  option: string,
  packageName: string,
  name: string,
])[] = [
  [
    "activity",
    "cancellationType",
    "@temporalio/workflow",
    "ActivityCancellationType",
  ],
  [
    "local activity",
    "cancellationType",
    "@temporalio/workflow",
    "ActivityCancellationType",
  ],
  [
    "child",
    "cancellationType",
    "@temporalio/workflow",
    "ChildWorkflowCancellationType",
  ],
  ["child", "parentClosePolicy", "@temporalio/workflow", "ParentClosePolicy"],
  [
    "child",
    "workflowIdReusePolicy",
    "@temporalio/workflow",
    "WorkflowIdReusePolicy",
  ],
  [
    "continue as new",
    "initialVersioningBehavior",
    "@temporalio/common",
    "InitialVersioningBehavior",
  ],
];

/** Commands without options: arguments take their place. */
const PLAIN: readonly (readonly [command: string, options: object])[] = [
  ["signal", { args: [1, "two"] }],
  ["signal", { runId: "00000000-0000-4000-8000-000000000000" }],
  ["cancel", {}],
  ["cancel", { runId: "00000000-0000-4000-8000-000000000000" }],
  ["memo", { memo: { a: 1, gone: null } }],
  ...SEARCH.map((searchAttributes) => ["search attributes", { searchAttributes }] as const),
  ...TYPED.map((searchAttributes) => ["search attributes", { searchAttributes }] as const),
  ["search attributes", { searchAttributes: { WalkKeyword: [] } }],
  ["search attributes", {
    searchAttributes: [{
      key: { name: "WalkKeyword", type: "KEYWORD" },
      value: null,
    }],
  }],
];

/** One command with one option. */
export interface Row {
  readonly command: string;
  readonly label: string;
  readonly options: object;
}

/** All that are compared. */
export function rows(): Row[] {
  const all: Row[] = COMMANDS.map(({ name }) => ({
    command: name,
    label: "no option",
    options: {},
  }));
  for (const { name, values } of COMMANDS) {
    for (const [option, given] of Object.entries(values)) {
      const enums = ENUMS.filter(([command, of]) => command === name && of === option);
      const members = enums.flatMap(([, , packageName, type]) => enumeration(packageName, type));
      for (const value of [...given, ...members]) {
        all.push({
          command: name,
          label: `${option} ${JSON.stringify(value)}`,
          options: { [option]: value },
        });
      }
    }
  }
  for (const [command, options] of PLAIN) {
    all.push({ command, label: JSON.stringify(options), options });
  }
  return all;
}
