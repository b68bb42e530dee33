// The table of lint rules. The help of the command line and docs/lint.md are generated from it.
// A rule reports only code that is wrong in every program. The order of iteration is not reported
// (JavaScript defines it for Map, Set and objects), and neither are Date and Math.random inside of
// functions (they replay the same values).

export type Severity = "error" | "warning";

export interface Rule {
  readonly severity: Severity;
  /** The code that the rule reports, in a few words. */
  readonly finds: string;
  /** Why that is wrong. */
  readonly why: string;
  /** What to do instead. */
  readonly advice: string;
  /**
   * Applies to programs of `@temporalio/workflow` as well, with these texts and this severity where
   * they differ.
   */
  readonly temporal?: {
    readonly severity?: Severity;
    readonly why?: string;
    readonly advice?: string;
  };
  /** The loader rejects (or warns about) it as well, so the module does not run. */
  readonly loader?: true;
}

const LOADS =
  "the modules of a workflow must be known before it runs, and be the same on every replay";

export const RULES = {
  "syntax": {
    loader: true,
    severity: "error",
    finds: "a module that does not parse",
    why: "the module cannot be loaded",
    advice: "fix the syntax",
  },
  "not-found": {
    loader: true,
    severity: "error",
    finds: "an import that cannot be resolved",
    why: "the module cannot be loaded",
    advice: "fix the path, or install the package",
  },
  "missing-export": {
    loader: true,
    severity: "error",
    finds: "an imported name that the other module does not export",
    why: "the module cannot be linked",
    advice: "fix the name; import types with `import type`",
  },
  "unsupported-file": {
    loader: true,
    severity: "error",
    finds: "an import of a file that is not a module",
    why: "only JavaScript, TypeScript and JSON can be loaded",
    advice: "import a module; read files in an activity",
  },
  "builtin-import": {
    loader: true,
    severity: "error",
    finds: "an import of node:*, deno:* or bun:*",
    why: "its effects are not recorded, so a replay would repeat them and get other results",
    advice: "use it in an activity",
  },
  "remote-import": {
    loader: true,
    severity: "error",
    finds: "an import from http(s)",
    why: LOADS,
    advice: "install the package, or keep a copy of the module",
  },
  "dynamic-import": {
    loader: true,
    severity: "error",
    finds: "import() of a name that is not a literal",
    why: LOADS,
    advice: "use a literal name, or load the module in an activity",
  },
  "require": {
    loader: true,
    severity: "error",
    finds: "require()",
    why: LOADS,
    advice: "use an import declaration",
  },
  "top-level-await": {
    loader: true,
    severity: "error",
    finds: "await outside of functions",
    why: "workflow modules are evaluated without waiting",
    advice: "await inside the workflow's function",
  },
  "import-meta": {
    loader: true,
    severity: "error",
    finds: "import.meta",
    why: "the location of a file differs between machines",
    advice: "pass the value as an argument",
  },
  "node-global": {
    loader: true,
    severity: "error",
    finds: "Buffer, __dirname and other names that exist only in Node",
    why: "they do not exist in the realm, in any runtime",
    advice: "use Uint8Array; pass paths as arguments",
  },
  "read-only-import": {
    loader: true,
    severity: "error",
    finds: "an assignment to an imported name",
    why: "imports are read-only",
    advice: "assign in the module that declares it",
  },
  "namespace": {
    loader: true,
    severity: "error",
    finds: "TypeScript's `namespace` with code in it",
    why: "types are removed without a compiler, and a namespace needs one",
    advice: "use a module",
  },
  "evaluation": {
    loader: true,
    severity: "error",
    finds: "a module that throws while it is loaded",
    why: "the module cannot be loaded",
    advice: "fix the code that throws",
  },
  "module-state": {
    loader: true,
    severity: "error",
    finds:
      "top-level variables that functions assign; as warnings, state that workflow code changes in top-level objects, " +
      "instances, iterators and closures",
    why:
      "a module is evaluated once per realm: runs would share its state, and a replay in another realm would not have it",
    advice: "keep state in the workflow's function",
  },
  "recent-name": {
    loader: true,
    severity: "warning",
    temporal: {},
    finds:
      "names of the language that are missing in Node 20 or 22 (Array.fromAsync, Iterator and its methods, Set methods, Promise.try, " +
      "RegExp.escape, Float16Array, Temporal, toBase64(), ...)",
    why: "a run from one runtime fails in another one without the name",
    advice: "import a module that computes the same, or check with typeof",
  },
  "package-builtin": {
    severity: "warning",
    temporal: {},
    finds: "a package that imports modules of Node (checked in its browser version, if it has one)",
    why:
      "the package is loaded, but its calls of Node's modules are rejected with package and line, because their effects are not recorded",
    advice: "use only parts without I/O, import one of its submodules, or call it in an activity",
  },
  "outside": {
    severity: "error",
    temporal: {
      why:
        "the sandbox of workflow code does not have them: they throw a ReferenceError, or an error with their name",
      advice:
        "use sleep() or setTimeout() for time, an activity for other I/O, and arguments for values known at the start",
    },
    finds:
      "globals for timers, network, process, streams, storage and other I/O (setTimeout, fetch, process.env, ...)",
    why:
      "their results are not recorded, so a replay would get other values; in a realm they throw",
    advice:
      "use sleep() for time, an activity for other I/O, and arguments for values known at the start",
  },
  "clock-while-loading": {
    severity: "error",
    finds:
      "the clock or random numbers outside of functions (Date.now(), new Date(), Math.random(), crypto.randomUUID())",
    why:
      "workflow time and random seed do not exist while modules are loaded; in a realm it throws",
    advice: "call it inside the workflow's function",
  },
  "primitive-while-loading": {
    severity: "error",
    finds: "sleep(), activities and other primitives called outside of functions",
    why: "a primitive needs a run, which does not exist while modules are loaded; it throws",
    advice: "call it inside the workflow's function",
  },
  "floating-promise": {
    severity: "error",
    temporal: {
      severity: "warning",
      why: "the result is lost, and a failure fails the workflow task as an unhandled rejection",
      advice: "await it, or write `void` before it and handle the failure",
    },
    finds:
      "a primitive that is started and not awaited (sleep, activities, children, receive, select, parallel, waitForSignal, ...)",
    why:
      "the result or failure is lost, and the operation is canceled if it is still pending when its scope ends",
    advice: "await it; use parallel() for concurrent operations",
  },
  "unreturned-continue-as-new": {
    severity: "error",
    temporal: {
      why:
        "its promise rejects with the request to continue as new; if ignored, this is an unhandled rejection, and the run does not end",
      advice: "write `await continueAsNew(...)`",
    },
    finds: "continueAsNew() and continueAsNewWith() without `return`",
    why:
      "run must return it: the call alone has no effect, and the run would complete (its task fails)",
    advice: "write `return continueAsNew(...)`",
  },
  "continue-as-new-where-forbidden": {
    severity: "error",
    finds:
      "continueAsNew() in message handlers, in branches of parallel(), in functions of select() and in spawnAsync()",
    why: "only run can end the run, after everything in flight has completed; it fails the task",
    advice: "end the receive with stop() or until, and `return continueAsNew(...)` from run",
  },
  "unbounded-history": {
    severity: "warning",
    finds:
      "a receive() without an end (stop(), timeout or until); continueAsNew after a receive that does not check continueAsNewSuggested",
    why:
      "the history grows with every message, and the service ends a run at 51,200 events; a fixed number of messages ignores the size of events",
    advice:
      "use receive(state, handlers, { until: () => workflowInfo().continueAsNewSuggested }), then `return continueAsNew(...)`",
  },
  "discarded-state": {
    severity: "warning",
    finds: "a receive() over a state whose result is ignored, in a function that continues as new",
    why: "the next run starts without the changes of the messages",
    advice: "write `const state = await receive(...)` and `return continueAsNew(..., state)`",
  },
  "promise-race": {
    severity: "warning",
    finds: "Promise.race and Promise.any over primitives",
    why:
      "the losers are not canceled: timers and activities continue until the scope ends, and their failures are not handled",
    advice:
      "use select(), which cancels the losers; receive() with a timeout for many messages; parallel() to run all of them",
  },
  "eager-arm": {
    severity: "warning",
    finds: "an arm of select() that gets a started activity, timer or child: on(sleep('1h'), ...)",
    why:
      "the arm is a promise, so it continues when another arm wins; a loop starts one more in each round",
    advice:
      "pass a function, on(() => shop.charge(order), ...), or timer('1h', ...); start operations that must continue before the select",
  },
  "async-validator": {
    severity: "error",
    temporal: {},
    finds: "an async function as `validate` (`validator`) of an update handler",
    why: "an update is accepted or rejected synchronously; a promise is not a decision",
    advice: "make it synchronous; wait in the handler",
  },
  "async-query": {
    severity: "error",
    temporal: {
      why: "a query completes synchronously; the query fails",
      advice: "make it synchronous; read variables",
    },
    finds: "an async function as a query handler",
    why: "a query completes synchronously, from the published state",
    advice: "make it synchronous; publish the values that it needs with publishState()",
  },
  "async-side-effect": {
    severity: "error",
    finds: "an async function given to sideEffect()",
    why: "its value is recorded synchronously, and a promise cannot be recorded",
    advice: "make it synchronous; use an activity for operations that wait",
  },
  "blocking-where-forbidden": {
    severity: "error",
    finds: "primitives in validators, query handlers and sideEffect() functions",
    why:
      "these functions run between turns or not on replay, so operations that they start would be missing in the history; it throws",
    advice: "call it in the handler or in run",
  },
  "receive-where-forbidden": {
    severity: "error",
    finds:
      "receive() in message handlers, in branches of parallel(), in functions of select() and in spawnAsync()",
    why: "only run receives messages; it fails the task",
    advice: "receive in run; wait for a single signal with waitForSignal() or select()",
  },
  "foreign-await": {
    severity: "warning",
    finds: "`await new Promise(...)` in workflow code",
    why:
      "a promise that the workflow's code does not settle never resolves, which fails the task as a deadlock",
    advice: "await a primitive: waitForSignal(), sleep(), select(), an activity",
  },
  "swallowed-cancellation": {
    severity: "error",
    temporal: {},
    finds: "a loop around try/catch that awaits primitives and continues after every error",
    why:
      "in a canceled workflow every primitive fails at once, so the loop computes until it is terminated",
    advice: "rethrow the error if isCancellation(error) is true",
  },
  "engine-math": {
    severity: "warning",
    temporal: { advice: "compute it in an activity; +, -, *, / and Math.sqrt are exact" },
    finds: "Math.sin, exp, log, pow, hypot and similar functions",
    why:
      "ECMAScript leaves their last digit to the engine: V8 (depending on the version) and SpiderMonkey differ for up to a quarter of the inputs, so a replay in another runtime or version can get another number",
    advice:
      "record the number with sideEffect(() => Math.exp(x)), or compute it in an activity; +, -, *, / and Math.sqrt are exact",
  },
  "unhandled-message": {
    severity: "warning",
    finds: "a signal or update among a workflow's `messages` that no code receives",
    why: "clients can send it, and nothing processes it",
    advice: "handle it with on(...) or waitForSignal(), or remove it from `messages`",
  },
  "patch-twice": {
    severity: "error",
    temporal: {},
    finds: "patched() and deprecatePatch() with one id in one module",
    why: "patched() keeps the old branch, and deprecatePatch() declares that it is removed",
    advice:
      "use patched() until no run needs the old branch, then deprecatePatch() alone, then neither",
  },
} as const satisfies { readonly [id: string]: Rule };

export type RuleId = keyof typeof RULES;

export const isRuleId = (id: string): id is RuleId => Object.hasOwn(RULES, id);

/** Returns the rules as a Markdown table, for docs/lint.md. */
export function rulesAsMarkdown(): string {
  const rows = Object.entries(RULES as { readonly [id: string]: Rule }).map((
    [id, { severity, finds, why, advice }],
  ) =>
    `| \`${id}\` | ${severity} | ${
      [finds, why, advice].map((text) => text.replaceAll("|", "\\|")).join(" | ")
    } |`
  );
  return ["| rule | | finds | why | instead |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** The rules for programs of `@temporalio/workflow` as a Markdown table, with their texts. */
export function temporalRulesAsMarkdown(): string {
  const rows = Object.entries(RULES as { readonly [id: string]: Rule }).flatMap((
    [id, { severity, why, advice, temporal }],
  ) =>
    temporal === undefined
      ? []
      : `| \`${id}\` | ${temporal.severity ?? severity} | ${
        [temporal.why ?? why, temporal.advice ?? advice].map((text) => text.replaceAll("|", "\\|"))
          .join(" | ")
      } |`
  );
  return ["| rule | | why | instead |", "|---|---|---|---|", ...rows].join("\n");
}
