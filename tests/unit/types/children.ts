// Type tests of children, external workflows and upserts: what must compile, and what must not.
import {
  type ChildWorkflowHandle,
  continueAsNew,
  defineSearchAttributeKey,
  executeChild,
  externalWorkflow,
  parallel,
  signal,
  spawn,
  startChild,
  update,
  upsertMemo,
  upsertSearchAttributes,
  workflow,
} from "../../../ts/workflow/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
const is = <T extends true>(): T => true as T;

interface Parcel {
  readonly weight: number;
}
const ship = workflow(
  "Ship",
  async (parcels: Parcel[], express?: boolean): Promise<string> => String(parcels.length) + express,
);
const tick = workflow(
  "Tick",
  async (n?: number) => n === undefined ? 1 : n > 3 ? 2 : continueAsNew(n + 1),
);
const nothing = workflow("Nothing", async () => {});
const expedite = signal<[by: string, at: number]>("expedite");
const stop = signal("stop");
const change = update<[number], string>("change");

export async function children() {
  const tracking = await executeChild(ship, {
    id: "s-1",
    args: [[{ weight: 1 }]],
    retry: { maximumAttempts: 2 },
  });
  is<Equal<typeof tracking, string>>();
  is<Equal<Awaited<ReturnType<typeof ticked>>, 1 | 2>>();
  await executeChild(nothing);
  await executeChild(nothing, { parentClosePolicy: "ABANDON", cancellationType: "tryCancel" });
  await executeChild(tick, { args: [4] });
  const unknown = await executeChild("Elsewhere", { args: [1, "x"], taskQueue: "go" });
  is<Equal<typeof unknown, unknown>>();
  const named = await executeChild<Parcel>("Elsewhere");
  is<Equal<typeof named, Parcel>>();

  const handle = await startChild(ship, { args: [[], true] });
  is<Equal<typeof handle, ChildWorkflowHandle<string>>>();
  const result: string = await handle.result();
  await handle.signal(expedite, "ada", 1);
  await handle.signal("by_name", 1, 2);
  handle.cancel("too late");

  const spawned = await spawn(ship, [{ weight: 2 }]);
  is<Equal<typeof spawned, string>>();
  await spawn(ship, [], true);
  await spawn(nothing);
  const both = await parallel([() => spawn(tick, 1), () => executeChild(ship, { args: [[]] })]);
  if (both[1].ok) both[1].value.trim();

  // @ts-expect-error a workflow is started, not called
  await ship([{ weight: 1 }]);
  // @ts-expect-error here, too
  nothing();
  // @ts-expect-error the workflow takes arguments
  await executeChild(ship);
  // @ts-expect-error here, too
  await executeChild(ship, { id: "x" });
  // @ts-expect-error of another type
  await executeChild(ship, { args: ["x"] });
  // @ts-expect-error too many
  await executeChild(ship, { args: [[], true, 3] });
  // @ts-expect-error the child takes no arguments
  await executeChild(nothing, { args: [1] });
  // @ts-expect-error not an option
  await executeChild(nothing, { workflowId: "x" });
  // @ts-expect-error not a policy
  await executeChild(nothing, { parentClosePolicy: "KILL" });
  // @ts-expect-error not a cancellation type
  await executeChild(nothing, { cancellationType: "WAIT" });
  // @ts-expect-error the result is a string
  const wrong: number = await executeChild(ship, { args: [[]] });
  // @ts-expect-error the argument is missing
  await spawn(ship);
  // @ts-expect-error of another type
  await spawn(ship, 5);
  // @ts-expect-error the signal takes two arguments
  await handle.signal(expedite, "ada");
  // @ts-expect-error an update is not a signal
  await handle.signal(change, 1);
  // @ts-expect-error a signal is not a workflow
  await executeChild(stop);
  return [result, wrong];
}
const ticked = () => spawn(tick);

export async function externals() {
  const other = externalWorkflow("account-1", "run");
  await other.signal(stop);
  await other.signal(expedite, "x", 1);
  await other.cancel("reason");
  const sent: void = await other.signal(stop);
  // @ts-expect-error the arguments have other types
  await other.signal(expedite, 1, "x");
  // @ts-expect-error too many arguments
  await other.signal(stop, 1);
  // @ts-expect-error an id is text
  externalWorkflow(5);
  // @ts-expect-error the child has no result
  await other.result();
  return sent;
}

const customer = defineSearchAttributeKey("Customer", "KEYWORD");
const amount = defineSearchAttributeKey("Amount", "DOUBLE");

export function upserts() {
  upsertSearchAttributes([{ key: customer, value: "ada" }, { key: amount, value: null }]);
  upsertSearchAttributes({ Customer: "ada", Tags: ["a"], Gone: null });
  upsertMemo({ note: { any: "thing" }, gone: null });
  // @ts-expect-error the value has another type
  upsertSearchAttributes([{ key: amount, value: "ada" }]);
  // @ts-expect-error not a value of search attributes
  upsertSearchAttributes({ Customer: { name: "ada" } });
  // @ts-expect-error keys with values
  upsertMemo("note");
}
