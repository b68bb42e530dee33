// Result types that a workflow's run function declares, and states that are written as object
// literals.
import {
  continueAsNew,
  continueAsNewWith,
  on,
  receive,
  signal,
  spawnAsync,
  update,
  workflow,
  type WorkflowDefinition,
} from "../../../ts/workflow/mod.ts";

interface Sub {
  readonly n: number;
}
const go = signal("go");
const add = update<[n: number], number>("add");

// The declared type of the result has no ContinueAsNew in it, and is what clients get.
export const declared: WorkflowDefinition<[n: number], Sub> = workflow(
  "Declared",
  async (n: number): Promise<Sub> => {
    if (n > 3) return continueAsNew(n - 1);
    if (n > 2) return continueAsNewWith({ taskQueue: "other" }, n - 1);
    if (n > 1) return continueAsNewWith({ workflowType: "Other" }, "anything");
    return { n };
  },
);
export const text = workflow(
  "Text",
  async (n: number): Promise<string> => n > 3 ? continueAsNew(n - 1) : "done",
);
export const nothing = workflow("Nothing", async (n: number): Promise<void> => {
  if (n > 3) return continueAsNew(n - 1);
});
export const perhaps = workflow("Perhaps", async (n: number): Promise<Sub | undefined> => {
  return n > 3 ? continueAsNew(n - 1) : undefined;
});
// @ts-expect-error without a declared type the arguments are checked
export const checked = workflow("Checked", async (n: number) => n > 3 ? continueAsNew("text") : n);
export const other = workflow(
  "Other",
  // @ts-expect-error the result has another type
  async (n: number): Promise<Sub> => n > 3 ? continueAsNew(n - 1) : { m: n },
);

// A state that is written as an object literal must not be narrower than the state of the receive.
export const literals = workflow("Literals", async () => {
  await receive({
    n: 0,
    done: false,
    last: "none" as string | undefined,
    mode: "a" as "a" | "b",
    names: [] as string[],
  }, [
    on(
      add,
      ([n], { names }) => spawnAsync(() => n, { n: 0, done: true, last: "x", mode: "b", names }),
    ),
    on(go, () =>
      spawnAsync(async (updateState) => {
        await updateState((
          state,
        ) => [0, { ...state, n: state.n + 1, done: false, last: "y", names: ["z"] }]);
        // @ts-expect-error no such type
        await updateState((state) => [0, { ...state, n: "text" }]);
      }, { n: 1, done: true, last: undefined, mode: "a", names: [] })),
    // What is declared is kept.
    on(go, (_, state) =>
      spawnAsync(async (updateState) => {
        // @ts-expect-error no such mode
        await updateState((now) => [0, { ...now, mode: "c" }]);
      }, state)),
    // @ts-expect-error a property is missing
    on(go, () => spawnAsync(() => 0, { n: 1 })),
    // @ts-expect-error a property has another type
    on(go, (_, state) => spawnAsync(() => 0, { ...state, done: "yes" })),
  ]);
});
