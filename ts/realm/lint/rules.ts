// The rules of the linter, in one table: the help of the command line and docs/lint.md are made from it, and the checks name their rules by
// it. A rule is here only if what it finds is wrong whatever the rest of the program does; what is merely unusual is left alone. So there
// is no rule about the order of iteration (JavaScript defines it for Map, Set and objects) nor about Date and Math.random inside of
// functions (they are the run's own).

export type Severity = "error" | "warning";

export interface Rule {
  readonly severity: Severity;
  /** What it finds, in a few words. */
  readonly finds: string;
  /** Why that is wrong. */
  readonly why: string;
  /** What to do instead. */
  readonly advice: string;
  /** It holds for programs of `@temporalio/workflow`, too; with other words, or another severity, where they differ. */
  readonly temporal?: { readonly severity?: Severity; readonly why?: string; readonly advice?: string };
  /** The loader refuses (or warns of) it, too: the module does not run at all. */
  readonly loader?: true;
}

const LOADS = "what a workflow module loads must be known before it runs, and be the same wherever it is replayed";

export const RULES = {
  "syntax": {
    loader: true,
    severity: "error",
    finds: "a module that does not parse",
    why: "it cannot be loaded",
    advice: "fix the syntax",
  },
  "not-found": {
    loader: true,
    severity: "error",
    finds: "an import that leads nowhere",
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
    finds: "an import of a file that is no module",
    why: "only JavaScript, TypeScript and JSON can be loaded",
    advice: "import a module; read files in an activity",
  },
  "builtin-import": {
    loader: true,
    severity: "error",
    finds: "an import of node:*, deno:* or bun:*",
    why: "what it does is not recorded, so a replay would do it again and get something else",
    advice: "do it in an activity",
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
    finds: "import() of a name that is no literal",
    why: LOADS,
    advice: "give the name as a literal, or load it in an activity",
  },
  "require": { loader: true, severity: "error", finds: "require()", why: LOADS, advice: "use an import declaration" },
  "top-level-await": {
    loader: true,
    severity: "error",
    finds: "await outside of functions",
    why: "workflow modules are evaluated without waiting",
    advice: "await inside of the workflow's function",
  },
  "import-meta": {
    loader: true,
    severity: "error",
    finds: "import.meta",
    why: "where a file lies differs between machines",
    advice: "pass the value as an argument",
  },
  "node-global": {
    loader: true,
    severity: "error",
    finds: "Buffer, __dirname and other names that Node alone has",
    why: "the realm does not have them, in any runtime",
    advice: "use Uint8Array; pass paths as arguments",
  },
  "read-only-import": {
    loader: true,
    severity: "error",
    finds: "an assignment to an imported name",
    why: "imports are read-only",
    advice: "assign where it is declared",
  },
  "namespace": {
    loader: true,
    severity: "error",
    finds: "TypeScript's `namespace` with code in it",
    why: "types are removed without a compiler, which a namespace needs",
    advice: "use a module",
  },
  "evaluation": {
    loader: true,
    severity: "error",
    finds: "a module that throws while it is loaded",
    why: "it cannot be loaded",
    advice: "fix what throws",
  },
  "module-state": {
    loader: true,
    severity: "error",
    finds:
      "top-level variables that functions assign; and, as warnings, state that workflow code changes in top-level objects, " +
      "instances, iterators and closures",
    why:
      "a module is evaluated once per realm: its state would pass from one run to the next, and a replay elsewhere would not see it",
    advice: "keep state in the workflow's function",
  },
  "recent-name": {
    loader: true,
    severity: "warning",
    temporal: {},
    finds:
      "names of the language that Node 20 or 22 lacks (Array.fromAsync, Iterator and its methods, Set methods, Promise.try, " +
      "RegExp.escape, Float16Array, Temporal, toBase64(), ...)",
    why: "a run that one runtime has executed fails in another that lacks the name",
    advice: "import a module that computes the same, or ask with typeof",
  },
  "package-builtin": {
    severity: "warning",
    temporal: {},
    finds: "a package that imports modules of Node (its part for browsers is looked at, where it has one)",
    why: "it is loaded, and what it calls of them is refused, by package and line: what they do is not recorded",
    advice: "use only its parts that compute, import one of its submodules, or call it in an activity",
  },
  "outside": {
    severity: "error",
    temporal: {
      why: "the sandbox of workflow code does not have them: it throws a ReferenceError, or refuses by name",
      advice: "sleep() or setTimeout() for time, an activity for everything else, arguments for what is known at the start",
    },
    finds:
      "timers, network, process, streams, storage and other globals that reach outside (setTimeout, fetch, process.env, ...)",
    why: "what they bring is not recorded, so a replay would get something else; in a realm they throw",
    advice: "sleep() for time, an activity for everything else, arguments for what is known at the start",
  },
  "clock-while-loading": {
    severity: "error",
    finds: "the clock or random numbers outside of functions (Date.now(), new Date(), Math.random(), crypto.randomUUID())",
    why: "there is no workflow time and no seed while modules are loaded; in a realm it throws",
    advice: "call it inside of the workflow's function",
  },
  "primitive-while-loading": {
    severity: "error",
    finds: "sleep(), activities and other primitives called outside of functions",
    why: "there is no run while modules are loaded; it throws",
    advice: "call it inside of the workflow's function",
  },
  "floating-promise": {
    severity: "error",
    temporal: {
      severity: "warning",
      why: "its result is lost, and its failure fails the workflow task as an unhandled rejection",
      advice: "await it, or write `void` before it and handle its failure",
    },
    finds:
      "a primitive that is started and not awaited (sleep, activities, children, receive, select, parallel, waitForSignal, ...)",
    why: "its result or failure is lost, and what is still pending when its scope ends is cancelled",
    advice: "await it; do things at once with parallel()",
  },
  "unreturned-continue-as-new": {
    severity: "error",
    temporal: {
      why:
        "its promise is rejected with what continues the run as new; dropped, it is an unhandled rejection, and the run goes on",
      advice: "write `await continueAsNew(...)`",
    },
    finds: "continueAsNew() and continueAsNewWith() without `return`",
    why: "continuing as new is what run returns; the call alone does nothing, and the run would complete (its task fails)",
    advice: "write `return continueAsNew(...)`",
  },
  "continue-as-new-where-forbidden": {
    severity: "error",
    finds: "continueAsNew() in message handlers, in branches of parallel(), in functions of select() and in spawnAsync()",
    why: "only run may end the run: what else is in flight has to be done first; it fails the task",
    advice: "end the receive, by stop() or until, and `return continueAsNew(...)` from run",
  },
  "unbounded-history": {
    severity: "warning",
    finds:
      "a receive() that nothing ends (no stop(), timeout or until), and a workflow that continues as new after a receive without asking continueAsNewSuggested",
    why:
      "its history grows with every message, and the service ends a run at 51,200 events; a number of your own does not know how large they are",
    advice: "receive(state, handlers, { until: () => workflowInfo().continueAsNewSuggested }), then `return continueAsNew(...)`",
  },
  "discarded-state": {
    severity: "warning",
    finds: "a receive() over a state whose result is dropped, in a function that continues as new",
    why: "the next run begins without what the messages have changed",
    advice: "`const state = await receive(...)`, and `return continueAsNew(..., state)`",
  },
  "promise-race": {
    severity: "warning",
    finds: "Promise.race and Promise.any over primitives",
    why: "the losers go on: a timer stands and an activity runs until the scope ends, and its failure is not handled",
    advice:
      "use select(), which cancels the losers; receive() with a timeout for many messages, parallel() to run all to their end",
  },
  "eager-arm": {
    severity: "warning",
    finds: "an arm of select() whose activity, timer or child is started where it stands: on(sleep('1h'), ...)",
    why:
      "it is a promise that the select was handed, so it goes on when another arm wins; in a loop there is one more with each turn",
    advice: "give a function, on(() => shop.charge(order), ...), or timer('1h', ...); start what is to go on before the select",
  },
  "async-validator": {
    severity: "error",
    temporal: {},
    finds: "an async function as `validate` (`validator`) of an update handler",
    why: "an update is accepted or rejected at once; a promise is not a verdict",
    advice: "make it synchronous; what needs to wait belongs in the handler",
  },
  "async-query": {
    severity: "error",
    temporal: { why: "a query is answered at once; the query fails", advice: "make it synchronous: it reads variables" },
    finds: "an async function as a query handler",
    why: "a query is answered at once, from the published state",
    advice: "make it synchronous; publish what it needs with publishState()",
  },
  "async-side-effect": {
    severity: "error",
    finds: "an async function given to sideEffect()",
    why: "its value is recorded at once, and a promise cannot be recorded",
    advice: "make it synchronous; what waits belongs in an activity",
  },
  "blocking-where-forbidden": {
    severity: "error",
    finds: "primitives in validators, query handlers and sideEffect() functions",
    why: "these run between turns or not on replay, so what they start would not be in the history; it throws",
    advice: "do it in the handler or in run",
  },
  "receive-where-forbidden": {
    severity: "error",
    finds: "receive() in message handlers, in branches of parallel(), in functions of select() and in spawnAsync()",
    why: "messages have one receiver at a time, which is run; it fails the task",
    advice: "receive in run; wait for a single signal with waitForSignal() or select()",
  },
  "foreign-await": {
    severity: "warning",
    finds: "`await new Promise(...)` in workflow code",
    why: "a promise that nothing in the workflow settles never wakes it, which fails the task as a deadlock",
    advice: "await a primitive: waitForSignal(), sleep(), select(), an activity",
  },
  "swallowed-cancellation": {
    severity: "error",
    temporal: {},
    finds: "a loop around try/catch that awaits primitives and goes on after every error",
    why: "once the workflow is cancelled every primitive fails at once, so the loop spins until it is stopped by force",
    advice: "throw again what isCancellation(error) says yes to",
  },
  "engine-math": {
    severity: "warning",
    temporal: { advice: "compute it in an activity; +, -, *, / and Math.sqrt are exact" },
    finds: "Math.sin, exp, log, pow, hypot and their like",
    why:
      "the language leaves their last digit to the engine: V8 (by its version) and SpiderMonkey differ in up to a quarter of the inputs, so a replay elsewhere, or after an update, may get another number",
    advice:
      "record the number with sideEffect(() => Math.exp(x)), or compute it in an activity; +, -, *, / and Math.sqrt are exact",
  },
  "unhandled-message": {
    severity: "warning",
    finds: "a signal or update among a workflow's `messages` that no code receives",
    why: "clients can send it, and nothing ever happens",
    advice: "handle it with on(...) or waitForSignal(), or leave it out of `messages`",
  },
  "patch-twice": {
    severity: "error",
    temporal: {},
    finds: "patched() and deprecatePatch() with one id in one module",
    why: "the one keeps the old branch and the other says that it is gone",
    advice: "use patched() until no run needs the old branch, then deprecatePatch() alone, then neither",
  },
} as const satisfies { readonly [id: string]: Rule };

export type RuleId = keyof typeof RULES;

export const isRuleId = (id: string): id is RuleId => Object.hasOwn(RULES, id);

/** The rules as a Markdown table, for the docs. */
export function rulesAsMarkdown(): string {
  const rows = Object.entries(RULES as { readonly [id: string]: Rule }).map(([id, { severity, finds, why, advice }]) =>
    `| \`${id}\` | ${severity} | ${[finds, why, advice].map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`
  );
  return ["| rule | | finds | why | instead |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** Those that hold for programs of `@temporalio/workflow`, with the words for them. */
export function temporalRulesAsMarkdown(): string {
  const rows = Object.entries(RULES as { readonly [id: string]: Rule }).flatMap(([id, { severity, why, advice, temporal }]) =>
    temporal === undefined
      ? []
      : `| \`${id}\` | ${temporal.severity ?? severity} | ${
        [temporal.why ?? why, temporal.advice ?? advice].map((text) => text.replaceAll("|", "\\|")).join(" | ")
      } |`
  );
  return ["| rule | | why | instead |", "|---|---|---|---|", ...rows].join("\n");
}
