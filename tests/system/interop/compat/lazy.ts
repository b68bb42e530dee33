// Workflows that import modules with `import()`. The official bundle has those that another import
// brings in.
// deno-lint-ignore-file no-explicit-any
import * as wf from "@temporalio/workflow";
import { seen } from "./lazy_notes.ts";
import * as other from "./lazy_other.ts";
import * as thenable from "./lazy_thenable.ts";
// @ts-ignore: a CommonJS module without declarations.
import * as data from "./lazy_data.cjs";

const { work } = wf.proxyActivities<any>({ startToCloseTimeout: "1 minute" });

/** Issues a command so many ticks later, for each count. */
function beside(...counts: number[]): void {
  for (const count of counts) {
    void (async () => {
      for (let i = 0; i < count; i++) await null;
      await work(`after ${count}`);
    })();
  }
}

/** How many ticks an import takes: awaited, by its reactions, twice, next to each other. */
export async function ticks() {
  const awaited = async (name: string) => {
    await import("./lazy_other.ts");
    await work(`awaited ${name}`);
  };
  beside(1, 2);
  void awaited("first");
  void import("./lazy_other.ts").then(() => work("reaction"));
  void awaited("second");
  beside(0, 1, 2, 3, 4, 5);
  void import("./lazy_thenable.ts").then((value) => work(`of then: ${String(value)}`));
  void import("@temporalio/workflow").then(({ workflowInfo }) => work(workflowInfo().workflowType));
  // @ts-ignore: as above.
  void import("./lazy_data.cjs").then((value: any) => work(value.default.name));
  await wf.sleep(100);
  return seen;
}

/** What the expression gives. */
export async function values() {
  const first = await import("./lazy_other.ts");
  const again = await import(`./lazy_other.ts`);
  const counted = [first.count, first.add(), first.count, other.count, again.count];
  // @ts-ignore: as above.
  const data: any = await import("./lazy_data.cjs");
  return {
    counted,
    isOne: first === again,
    isNamespace: first === other,
    names: Object.keys(first).sort(),
    byDefault: first.default,
    of: Object.prototype.toString.call(first),
    data: [data.name, data.default.name],
    scope: await wf.CancellationScope.cancellable(async () => {
      const { inScope } = await import("./lazy_other.ts");
      return inScope() === wf.CancellationScope.current();
    }),
    seen,
  };
}

export const used = [thenable, data].length;
