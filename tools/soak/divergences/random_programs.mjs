// Programs by a seed, native and for Temporal: handlers of signals and updates, races, scopes,
// equal children, loops, try/finally. Each has what a client does; every second run stays open.
import { Random } from "../verdicts/random.mjs";
import { entityCode } from "./entities.mjs";

const VERBS = [
  "book",
  "check",
  "count",
  "draft",
  "fetch",
  "grant",
  "hold",
  "label",
  "mail",
  "pick",
];
const NOUNS = ["Box", "Card", "Desk", "File", "Gate", "Host", "Item", "Key", "Lot", "Mast"];
const DURATIONS = ["1s", "2s", "5s", "30s", "1m", "10m", "1h", "2h"];

/** Activities of the programs. Each program calls a name at one place only. */
export const RANDOM_ACTIVITIES = VERBS.flatMap((verb) => NOUNS.map((noun) => verb + noun));
/** Fails, and is not retried. */
export const REFUSING_ACTIVITY = "refuse";

const HEADS = {
  native:
    `import { activities, executeChild, noreply, on, parallel, patched, receive, reply, select, signal, sleep, spawnAsync, stop, timer, update, upsertMemo, waitForSignal, workflow } from "temporalex/workflow";

const acts = activities<any>({ startToClose: "1m" });
`,
  compat:
    `import { CancellationScope, condition, defineSignal, defineUpdate, executeChild, isCancellation, patched, proxyActivities, setHandler, sleep, upsertMemo } from "@temporalio/workflow";

const acts = proxyActivities<any>({ startToCloseTimeout: "1m" });
`,
};

const CHILDREN = {
  native: `export const pack = workflow("Pack", async (box: number) => {
  await sleep("1s");
  return box;
});
export const wrap = workflow("Wrap", async (box: number) => box);
`,
  compat: `export async function Pack(box: number): Promise<number> {
  await sleep("1s");
  return box;
}
`,
};

/** Writes one program: its definitions, handlers, body, and the actions of its client. */
class Writer {
  definitions = [];
  handlers = [];
  actions = [];
  #names;
  #numbers = 0;
  #texts = [];

  constructor(random, dialect) {
    this.random = random;
    this.dialect = dialect;
    this.#names = [...RANDOM_ACTIVITIES];
  }

  number() {
    return ++this.#numbers;
  }

  /** A call of an activity that the program has not called elsewhere. */
  call(argument = `"${this.number()}"`) {
    const [name] = this.#names.splice(this.random.below(this.#names.length), 1);
    return `acts.${name}(${argument})`;
  }

  child() {
    const of = this.dialect === "native" ? "pack" : "Pack";
    return `executeChild(${of}, { args: [${this.number()}] })`;
  }

  duration() {
    return `"${this.random.of(DURATIONS)}"`;
  }

  /** Defines a message. Returns its variable; its name in the history is another text. */
  define(kind, type) {
    const n = this.number();
    const call = this.dialect === "native"
      ? kind
      : kind === "signal"
      ? "defineSignal"
      : "defineUpdate";
    this.definitions.push(`export const ${kind}${n} = ${call}${type}("${kind}-${n}");`);
    return { variable: `${kind}${n}`, name: `${kind}-${n}` };
  }

  /** An activity, a timer or a child. */
  simple() {
    const n = this.random.below(8);
    if (n < 2) return [`await sleep(${this.duration()});`];
    if (n < 3) return [`await ${this.child()};`];
    if (n < 6) return [`await ${this.call()};`];
    const value = `v${this.number()}`;
    this.#texts.push(value);
    return [`const ${value} = await ${this.call()};`];
  }

  block(most) {
    const texts = [...this.#texts];
    const lines = Array.from({ length: 1 + this.random.below(most) }, () => this.simple()).flat();
    this.#texts = texts; // constants of a block end with it
    return lines.map((line) => `  ${line}`);
  }

  common() {
    switch (this.random.below(6)) {
      case 0: {
        const [value] = this.#texts.length > 0 ? [this.random.of(this.#texts)] : ['"some text"'];
        return [
          `if (String(${value}).length > 3) {`,
          ...this.block(2),
          "} else {",
          `  await ${this.call()};`,
          "}",
        ];
      }
      case 1:
        return [
          `for (let i = 0; i < ${2 + this.random.below(2)}; i++) {`,
          `  await ${this.call("i")};`,
          ...(this.random.chance(0.5) ? [`  await sleep(${this.duration()});`] : []),
          "}",
        ];
      case 2:
        return ["try {", ...this.block(3), "} finally {", ...this.block(2), "}"];
      case 3:
        return [
          "try {",
          `  await acts.${REFUSING_ACTIVITY}("${this.number()}");`,
          "} catch {",
          ...this.block(2),
          "}",
        ];
      case 4: {
        const name = `patch-${this.number()}`;
        return [`if (patched("${name}")) {`, `  await ${this.call()};`, "}"];
      }
      default:
        return [`upsertMemo({ step: ${this.number()} });`, `await ${this.call()};`];
    }
  }

  group() {
    const [all, bound] = this.dialect === "native" ? ["parallel", "() => "] : ["Promise.all", ""];
    const n = 2 + this.random.below(2);
    const kind = this.random.below(3);
    const branch = () => kind === 0 ? this.child() : kind === 1 ? this.call() : `(async () => {`;
    const lines = Array.from({ length: n }, () =>
      kind < 2 ? [`  ${bound}${branch()},`] : [
        this.dialect === "native" ? "  async () => {" : "  (async () => {",
        `    await sleep(${this.duration()});`,
        `    await ${this.call()};`,
        this.dialect === "native" ? "  }," : "  })(),",
      ]).flat();
    return [`await ${all}([`, ...lines, "]);"];
  }

  signalled(name, ...args) {
    this.actions.push({ kind: "signal", name, args });
  }

  waits() {
    return this.dialect === "native" ? this.#nativeWait() : this.#compatWait();
  }

  #nativeWait() {
    const kind = this.random.below(4);
    if (kind === 0) {
      const { variable, name } = this.define("signal", "<[by: string]>");
      this.signalled(name, "ada");
      const by = `by${this.number()}`;
      return [`const ${by} = await waitForSignal(${variable});`, `await ${this.call(by)};`];
    }
    if (kind === 1) {
      const { variable, name } = this.define("signal", "<[by: string]>");
      this.signalled(name, "ada");
      const text = `text${this.number()}`;
      return [
        `const ${text} = await select([`,
        `  on(${variable}, ([by]) => by),`,
        `  timer("30 days", () => "late"),`,
        "]);",
        `await ${this.call(text)};`,
      ];
    }
    if (kind === 2) {
      return [
        "await select([",
        `  on(() => ${this.call()}, () => "first"),`,
        `  timer("20 days", () => "late"),`,
        "]);",
      ];
    }
    return this.#receive();
  }

  #receive() {
    const arms = [];
    for (let i = 1 + this.random.below(3); i > 0; i--) {
      const { variable, name } = this.define("update", "<[n: number], number>");
      for (let n = 1 + this.random.below(2); n > 0; n--) {
        this.actions.push({ kind: "update", name, args: [this.number()] });
      }
      const form = this.random.below(3);
      if (form === 0) arms.push([`  on(${variable}, ([n], sum) => reply(n, sum + n)),`]);
      else if (form === 1) {
        arms.push([
          `  on(${variable}, async ([n], sum) => {`,
          `    await ${this.call("n")};`,
          ...(this.random.chance(0.5) ? [`    await sleep(${this.duration()});`] : []),
          "    return reply(n, sum + n);",
          "  }),",
        ]);
      } else {
        arms.push([
          `  on(${variable}, ([n], sum) =>`,
          "    spawnAsync(async () => {",
          `      await ${this.call("n")};`,
          `      await sleep(${this.duration()});`,
          "      return n;",
          "    }, sum)),",
        ]);
      }
    }
    if (this.random.chance(0.5)) {
      const { variable, name } = this.define("signal", "");
      this.signalled(name);
      arms.push([
        `  on(${variable}, async (_, sum) => {`,
        `    await ${this.call("sum")};`,
        "    return noreply(sum);",
        "  }),",
      ]);
    }
    const { variable, name } = this.define("signal", "");
    this.signalled(name);
    arms.push([`  on(${variable}, (_, sum) => stop(sum)),`]);
    const sum = `sum${this.number()}`;
    return [
      `const ${sum} = await receive<number>(0, [`,
      ...arms.flat(),
      "]);",
      `await ${this.call(sum)};`,
    ];
  }

  #compatWait() {
    const n = this.number();
    const kind = this.random.below(3);
    if (kind === 0) {
      const { variable, name } = this.define("signal", "<[string]>");
      this.handlers.push(
        `let by${n} = "";`,
        `setHandler(${variable}, (by) => {`,
        `  by${n} = by;`,
        "});",
      );
      this.signalled(name, "ada");
      return this.random.chance(0.5)
        ? [`await condition(() => by${n} !== "");`, `await ${this.call(`by${n}`)};`]
        : [
          `if (!(await condition(() => by${n} !== "", "30 days"))) {`,
          `  await ${this.call()};`,
          "}",
          `await ${this.call(`by${n}`)};`,
        ];
    }
    if (kind === 1) {
      const { variable, name } = this.define("update", "<number, [number]>");
      this.handlers.push(
        `let sum${n} = 0;`,
        `setHandler(${variable}, async (by) => {`,
        `  await ${this.call("by")};`,
        ...(this.random.chance(0.5) ? [`  await sleep(${this.duration()});`] : []),
        `  sum${n} += by;`,
        `  return sum${n};`,
        "});",
      );
      this.actions.push({ kind: "update", name, args: [3] });
      return [`await condition(() => sum${n} > 0);`, `await ${this.call(`sum${n}`)};`];
    }
    const { variable, name } = this.define("signal", "");
    this.handlers.push(
      `const scope${n} = new CancellationScope();`,
      `setHandler(${variable}, () => {`,
      `  scope${n}.cancel();`,
      "});",
    );
    this.signalled(name);
    return [
      "try {",
      `  await scope${n}.run(async () => {`,
      `    await ${this.call()};`,
      `    await sleep("40 days");`,
      `    await ${this.call()};`,
      "  });",
      "} catch (error) {",
      "  if (!isCancellation(error)) throw error;",
      `  await ${this.call()};`,
      "}",
    ];
  }

  step() {
    const n = this.random.below(10);
    if (n < 4) return this.simple();
    if (n < 6) return this.common();
    if (n < 7) return this.group();
    return this.waits();
  }
}

/**
 * Returns programs as `ENTITIES` has them, with JavaScript in `code`.
 * @param {number} seed
 * @param {number} count
 */
export function randomPrograms(seed, count) {
  const random = new Random(seed);
  return Array.from({ length: count }, (_, i) => {
    const dialect = i % 2 === 0 ? "native" : "compat";
    const isOpen = i % 4 > 1;
    const name = `random${i}`;
    const writer = new Writer(random, dialect);
    const steps = [
      writer.simple(),
      ...Array.from({ length: 3 + random.below(4) }, () => writer.step()),
      writer.waits(),
      writer.simple(),
      writer.simple(),
    ].flat();
    const { definitions, handlers, actions } = writer;
    const body = [...handlers, ...steps, 'return "done";'].map((line) => `  ${line}`).join("\n");
    const main = dialect === "native"
      ? `export const main = workflow("Main", async () => {\n${body}\n});\n`
      : `export async function Main(): Promise<string> {\n${body}\n}\n`;
    const text = [HEADS[dialect], definitions.join("\n"), "", CHILDREN[dialect], main].join("\n");
    const sent = isOpen ? actions.slice(0, random.below(actions.length)) : actions;
    const rest = random.of(["1s", "3s", "1m", "1 day"]);
    const drive = async (env) => {
      const handle = await env.client.start("Main", { id: name });
      for (const { kind, name, args } of sent) {
        await env.advance("1 day");
        await handle[kind](name, ...args);
      }
      if (isOpen) await env.advance(rest);
      else await handle.result();
    };
    return { name, dialect, code: entityCode({ text }), drive };
  });
}
