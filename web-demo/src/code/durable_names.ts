// Finds which names in a file are messages, activities, timers or children. Only these are colored
// in the code pane, like in the timeline and the list. Reads declarations and imports, without
// types; unknown names keep the color of ink.

/** A color of the code pane. "flow" is a word that decides where the code continues; it is bold. */
export type NameKind =
  | "update"
  | "signal"
  | "query"
  | "activity"
  | "timer"
  | "child"
  | "marker"
  | "flow";

/** Kinds of the functions of `temporalex/workflow` and `@temporalio/workflow`. */
const PRIMITIVES: { readonly [name: string]: NameKind } = {
  sleep: "timer",
  timer: "timer",
  executeChild: "child",
  startChild: "child",
  spawn: "child",
  externalWorkflow: "signal",
  getExternalWorkflowHandle: "signal",
  patched: "marker",
  deprecatePatch: "marker",
  sideEffect: "marker",
  upsertSearchAttributes: "marker",
  upsertMemo: "marker",
  transact: "marker",
  procedure: "activity",
  subscribe: "signal",
  unsubscribe: "signal",
  broadcast: "signal",
  receive: "flow",
  select: "flow",
  parallel: "flow",
  shield: "flow",
  spawnAsync: "flow",
  updateState: "flow",
  waitForSignal: "flow",
  continueAsNew: "flow",
  continueAsNewWith: "flow",
  carry: "flow",
  condition: "flow",
  setHandler: "flow",
  CancellationScope: "flow",
};

/** Functions that create one durable item, by the item's kind. */
const MAKERS: { readonly [name: string]: NameKind } = {
  update: "update",
  signal: "signal",
  query: "query",
  defineUpdate: "update",
  defineSignal: "signal",
  defineQuery: "query",
};
/** Functions that create an object whose members are durable, by the kind of the members. */
const PROXIES: ReadonlyMap<string, NameKind> = new Map([
  ["activities", "activity"],
  ["localActivities", "activity"],
  ["nexus", "activity"],
  ["proxyActivities", "activity"],
  ["proxyLocalActivities", "activity"],
  ["reducers", "marker"],
  ["procedures", "activity"],
  ["signals", "signal"],
  ["timers", "timer"],
]);

export interface DurableNames {
  /** Kinds of plain names. */
  readonly names: ReadonlyMap<string, NameKind>;
  /**
   * Objects by the kind of their members: `shop` of `shop.charge()`, `game` of
   * `game.threatDetected`.
   */
  readonly proxies: ReadonlyMap<string, NameKind>;
  /** Namespace imports: `wf` of `import * as wf`. */
  readonly modules: ReadonlySet<string>;
}

const NAME = "[A-Za-z_$][\\w$]*";
const IMPORT = /\bimport\s+(?:type\s+)?([^"';]*?)\s*from\s*["']([^"']+)["']/g;
const MADE = new RegExp(
  `\\b(?:const|let|var)\\s+(${NAME})(?:\\s*:[^=\\n]+)?\\s*=\\s*(?:${NAME}\\.)?(${NAME})\\s*(?=[<(])`,
  "g",
);
const TAKEN = new RegExp(
  `\\b(?:const|let|var)\\s*\\{([^}]*)\\}(?:\\s*:[^=\\n]+)?\\s*=\\s*(?:${NAME}\\.)?(${NAME})\\s*(?=[<(])`,
  "g",
);

/** Declarations of one file. */
function declared(text: string): { names: Map<string, NameKind>; proxies: Map<string, NameKind> } {
  const names = new Map<string, NameKind>();
  const proxies = new Map<string, NameKind>();
  for (const [, name, maker] of text.matchAll(MADE)) {
    const kind = MAKERS[maker!];
    const members = PROXIES.get(maker!);
    if (kind !== undefined) names.set(name!, kind);
    else if (members !== undefined) proxies.set(name!, members);
  }
  for (const [, list, maker] of text.matchAll(TAKEN)) {
    const kind = PROXIES.get(maker!);
    if (kind === undefined) continue;
    for (const { local } of listed(list!, ":")) names.set(local, kind);
  }
  return { names, proxies };
}

/** The parts of `a, b as c` or `a, b: c`, without comments. */
function listed(
  list: string,
  by: ":" | " as ",
): { readonly name: string; readonly local: string }[] {
  return list.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "").split(",").map((part) =>
    part.replace(/^\s*type\s/, "").trim()
  ).filter(
    (part) => /^[A-Za-z_$]/.test(part),
  ).map((part) => {
    const [name = "", local = name] = part.split(by === ":" ? /\s*:\s*/ : /\s+as\s+/).map((word) =>
      word.replace(/\s*=.*$/, "")
    );
    return { name, local };
  });
}

/**
 * The names of one file. `others`: further files, from which it can import messages and activities.
 */
export function durableNames(text: string, others: readonly string[] = []): DurableNames {
  const own = declared(text);
  const names = new Map<string, NameKind>();
  const proxies = new Map(own.proxies);
  const modules = new Set<string>();
  const siblings = others.map(declared);
  for (const [, clause = ""] of text.matchAll(IMPORT)) {
    const whole = new RegExp(`\\*\\s*as\\s+(${NAME})`).exec(clause)?.[1];
    if (whole !== undefined) modules.add(whole);
    for (const { name, local } of listed(/\{([\s\S]*)\}/.exec(clause)?.[1] ?? "", " as ")) {
      const kind = PRIMITIVES[name] ??
        siblings.map((file) => file.names.get(name)).find((found) => found !== undefined);
      if (kind !== undefined) names.set(local, kind);
      const members = siblings.map((file) => file.proxies.get(name)).find((found) =>
        found !== undefined
      );
      if (members !== undefined) proxies.set(local, members);
    }
  }
  // updateState is also a parameter of handlers, with the same meaning as the imported function.
  if (names.has("spawnAsync")) names.set("updateState", "flow");
  for (const [name, kind] of own.names) names.set(name, kind);
  return { names, proxies, modules };
}

/** The kind of a word. `object` is the name before its dot, "" without a dot. */
export function kindOf(word: string, object: string, known: DurableNames): NameKind | undefined {
  if (object === "") return known.names.get(word);
  const member = known.proxies.get(object);
  if (member !== undefined) return member;
  return known.modules.has(object) ? PRIMITIVES[word] : undefined;
}
