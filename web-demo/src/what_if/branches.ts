// The branches of each open run: edits, results and the comparison. A branch runs in a separate
// sandboxed realm and an in-memory engine, and never reaches the real run. The engine is loaded
// when the first branch runs.
import { batch, type Signal, signal } from "@preact/signals";
import { type DebugSession, openSession } from "temporalex/debug";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { fromBinary } from "@bufbuild/protobuf";
import { readHistoryFile } from "../../../ts/history_files/history_file.ts";
import { compareRuns, type Comparison } from "../../../ts/what_if/compare.ts";
import type { Edit } from "../../../ts/what_if/edits.ts";
import { BranchTree } from "../../../ts/what_if/tree.ts";
import type { OpenRun } from "../store/state.ts";
import { type PageRealm, PageRealms } from "../realm/page_realm.ts";

/** The branches of one run. */
export interface Branches {
  readonly run: OpenRun;
  readonly tree: Signal<BranchTree>;
  /** Id of the branch that is shown as B; 0 for no branch. */
  readonly chosen: Signal<number>;
  /** The branch that is running, or why the last one failed to run. */
  readonly state: Signal<{ readonly running: number } | { readonly error: string } | undefined>;
  /** Replays of branches, by id, for the lines that ran. */
  readonly sessions: Signal<ReadonlyMap<number, DebugSession>>;
  /** The recorded history. */
  readonly history: Signal<
    { readonly bytes: Uint8Array; readonly events: readonly HistoryEvent[] } | undefined
  >;
}

const known = new Map<string, Branches>();
const realms = new Map<string, PageRealms>();

export function branchesOf(run: OpenRun): Branches {
  const found = known.get(run.key);
  // A codec has decoded the run since: edits of encoded values do not fit.
  if (found !== undefined && found.run.encoded === run.encoded) return found;
  const made: Branches = {
    run,
    tree: signal(new BranchTree()),
    chosen: signal(0),
    state: signal(undefined),
    sessions: signal(new Map()),
    history: signal(undefined),
  };
  known.set(run.key, made);
  void readHistoryFile(run.bytes).then(({ bytes }) => {
    made.history.value = { bytes, events: fromBinary(HistorySchema, bytes).events };
  });
  return made;
}

/** The branches of a run if {@link branchesOf} was called for it, otherwise undefined. */
export const knownBranches = ({ key }: Pick<OpenRun, "key">): Branches | undefined =>
  known.get(key);

/** Adds a child of the chosen branch with these edits, and runs it. */
export async function tryEdits(
  branches: Branches,
  title: string,
  edits: readonly Edit[],
): Promise<void> {
  const { tree, chosen } = branches;
  batch(() => {
    tree.value = tree.value.add(chosen.value, title, edits);
    chosen.value = tree.value.nodes.at(-1)!.id;
  });
  await runChosen(branches);
}

/** Replaces the edits of the chosen branch and runs it. Without edits the branch is removed. */
export async function changeEdits(branches: Branches, edits: readonly Edit[]): Promise<void> {
  const { tree, chosen } = branches;
  const { parent } = tree.value.node(chosen.value);
  if (edits.length === 0) {
    batch(() => {
      tree.value = tree.value.remove(chosen.value);
      chosen.value = parent;
    });
    if (parent === 0 || tree.value.node(parent).result !== undefined) return;
  } else tree.value = tree.value.withEdits(chosen.value, edits);
  await runChosen(branches);
}

/** Runs the chosen branch, unless it has run. */
export async function runChosen(branches: Branches): Promise<void> {
  const { run, tree, chosen, state, sessions, history } = branches;
  const id = chosen.value;
  if (id === 0 || tree.value.node(id).result !== undefined) return;
  const code = run.code.value;
  if (code === undefined || history.value === undefined) {
    state.value = { error: "A branch needs the code of the run. Drop the code on this page." };
    return;
  }
  state.value = { running: id };
  try {
    const [{ runBranch }, { useCore }, { workerFile }, { default: engine }] = await Promise.all([
      import("../../../ts/what_if/branch.ts"),
      import("temporalex/slim"),
      import("../core_file.ts"),
      import("temporalex/engine.wasm?url"),
    ]);
    useCore({ worker: workerFile, engine: new URL(engine, document.baseURI) });
    let own = realms.get(run.key);
    if (own === undefined) realms.set(run.key, own = new PageRealms());
    const realm: PageRealm = await own.open(code);
    const result = await runBranch(history.value.bytes, {
      realm,
      edits: tree.value.editsOf(id),
      maxTasks: 300,
    });
    if (!tree.value.nodes.some((node) => node.id === id)) return;
    const session = await openSession(result.history, { realm });
    batch(() => {
      tree.value = tree.value.withResult(id, result);
      sessions.value = new Map([...sessions.value, [id, session]]);
      state.value = undefined;
    });
    realm.prepareNext();
  } catch (error) {
    state.value = { error: (error as Error).message };
  }
}

/** Compares the recorded run (A) with the chosen branch (B). Undefined until the branch has run. */
export function comparisonOf({ tree, chosen, history }: Branches): Comparison | undefined {
  const result = chosen.value === 0 ? undefined : tree.value.node(chosen.value).result;
  return history.value === undefined || result === undefined
    ? undefined
    : compareRuns(history.value.events, result.events);
}

/** Stops the code of all branches of a run. */
export function stopBranches({ key }: Pick<OpenRun, "key">): void {
  realms.get(key)?.stop();
}
