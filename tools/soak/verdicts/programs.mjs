// Random programs of `@temporalio/workflow`, as source text: every command that replay matches, in
// scopes, branches, handlers and loops. What a program does follows from its seed, its history and
// what is sent to it.
import { Random } from "./random.mjs";

export const ACTIVITIES = ["alpha", "beta", "gamma", "refuse"];
export const LOCAL_ACTIVITIES = ["near", "nearer", "refuseHere"];

class Program {
  #random;
  #handlers = 0;
  #names = 0;

  constructor(seed) {
    this.#random = new Random(seed);
  }

  text() {
    const r = this.#random;
    const handlers = r.below(3);
    const body = [
      `setHandler(poke, (n: number) => { state.pokes += n; state.log.push("poke"); });`,
      ...Array.from({ length: handlers }, () => this.#handler()),
      ...this.#body(3, 2 + r.below(5)),
    ];
    const end = r.chance(0.12)
      ? [`if (round < 2) await continueAsNew<typeof main>(round + 1);`]
      : r.chance(0.1)
      ? [`throw ApplicationFailure.nonRetryable("ends so", "Ends");`]
      : [`return state;`];
    return `import { ApplicationFailure, CancellationScope, condition, continueAsNew, defineSignal, defineUpdate, deprecatePatch,
  executeChild, getExternalWorkflowHandle, isCancellation, ParentClosePolicy, patched, proxyActivities, proxyLocalActivities,
  setHandler, sleep, startChild, upsertMemo, upsertSearchAttributes, uuid4, workflowInfo } from "@temporalio/workflow";

const { ${
      ACTIVITIES.join(", ")
    } } = proxyActivities<any>({ startToCloseTimeout: "1 minute", retry: { maximumAttempts: 2 } });
const { ${
      LOCAL_ACTIVITIES.join(", ")
    } } = proxyLocalActivities<any>({ startToCloseTimeout: "5 s", retry: { maximumAttempts: 2 } });
const poke = defineSignal<[number]>("poke");
const asks = [defineUpdate<number, [number]>("ask0"), defineUpdate<number, [number]>("ask1"), defineUpdate<number, [number]>("ask2")];

export async function leaf(n: number): Promise<number> {
  await sleep(n);
  return n;
}

export async function main(round = 0): Promise<unknown> {
  const state = { pokes: 0, asked: 0, log: [] as string[] };
${[...body, ...end].map((line) => `  ${line}`).join("\n")}
}
`;
  }

  #handler() {
    const n = this.#handlers++;
    return `setHandler(asks[${n}]!, async (x: number) => { state.asked++; ${
      this.#body(1, 1 + this.#random.below(2)).join(" ")
    } return x + state.asked; });`;
  }

  #body(depth, length) {
    return Array.from({ length }, () => this.#statement(depth));
  }

  #block(depth) {
    return `{ ${this.#body(depth - 1, 1 + this.#random.below(3)).join(" ")} }`;
  }

  #promise(depth) {
    const r = this.#random;
    return r.chance(0.6) || depth <= 0 ? this.#leaf() : `(async () => ${this.#block(depth)})()`;
  }

  /** An expression that is a promise. */
  #leaf() {
    const r = this.#random;
    return r.of([
      () => `sleep(${r.of([1, 1, 20, 500, 5000])})`,
      () => `${r.of(ACTIVITIES.slice(0, 3))}(${r.below(9)})`,
      () => `${r.of(ACTIVITIES.slice(0, 3))}(state.pokes)`,
      () => `${r.of(LOCAL_ACTIVITIES.slice(0, 2))}(${r.below(9)})`,
      () => `condition(() => state.pokes >= ${1 + r.below(3)}, ${r.of(["20", "'1 s'", "'10 s'"])})`,
      () =>
        `executeChild(leaf, { args: [${r.of([1, 30])}]${
          r.chance(0.5) ? ", workflowId: uuid4()" : ""
        } })`,
      () => `refuse(${r.below(3)}).catch(() => state.log.push("refused"))`,
      () => `refuseHere(${r.below(3)}).catch(() => state.log.push("refused here"))`,
      () =>
        `getExternalWorkflowHandle("not-there").signal(poke, 1).catch(() => state.log.push("not there"))`,
      () =>
        `getExternalWorkflowHandle("not-there-either").cancel().catch(() => state.log.push("not there"))`,
    ])();
  }

  #statement(depth) {
    const r = this.#random;
    if (depth <= 0 || r.chance(0.45)) return `await ${this.#leaf()};`;
    const name = `v${this.#names++}`;
    return r.of([
      () => `await Promise.all([${this.#promise(depth)}, ${this.#promise(depth)}]);`,
      () => `await Promise.race([${this.#promise(depth)}, ${this.#promise(depth)}]);`,
      () =>
        `if (patched("${r.of(["p", "q", "r"])}")) ${this.#block(depth)} else ${this.#block(depth)}`,
      () => `deprecatePatch("${r.of(["old", "older"])}");`,
      () =>
        `try { await CancellationScope.withTimeout(${r.of([5, 200])}, async () => ${
          this.#block(depth)
        }); } catch (e) { if (!isCancellation(e)) throw e; state.log.push("late"); }`,
      () => `await CancellationScope.nonCancellable(async () => ${this.#block(depth)});`,
      () =>
        `const ${name} = new CancellationScope(); const ${name}p = ${name}.run(async () => ${
          this.#block(depth)
        }).catch((e) => { if (!isCancellation(e)) throw e; }); ${
          r.chance(0.5) ? "await sleep(1);" : ""
        } ${name}.cancel(); await ${name}p;`,
      () => `for (let i = 0; i < ${1 + r.below(3)}; i++) ${this.#block(depth)}`,
      () => `if (Math.random() < 0.5) ${this.#block(depth)} else ${this.#block(depth)}`,
      () =>
        `const ${name} = await startChild(leaf, { args: [${
          r.of([5, 100000])
        }], workflowId: "child-" + uuid4(), parentClosePolicy: ParentClosePolicy.${
          r.of(["ABANDON", "TERMINATE"])
        } }); ${r.chance(0.5) ? `await ${name}.signal("absent", 1);` : ""}`,
      () => `upsertMemo({ note: ${r.below(9)} });`,
      () => `upsertSearchAttributes({ CustomIntField: [${r.below(9)}] });`,
      () => `if (state.asked > ${r.below(2)}) ${this.#block(depth)}`,
      () => `if (workflowInfo().historyLength > ${r.of([5, 12, 30])}) ${this.#block(depth)}`,
      () => `const ${name} = ${this.#promise(depth)}; await ${this.#leaf()}; await ${name};`,
    ])();
  }
}

export const programText = (seed) => new Program(seed).text();
