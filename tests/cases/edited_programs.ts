// Programs that are recorded, edited and replayed. All programs of a file of cases are modules of
// the same two realms, because a start of a realm costs more than most replays.
import { equal } from "./assert.ts";
import {
  createRealmFromTexts,
  type RealmHarness,
  type RealmOptions,
  type RealmRun,
} from "./realm_host.ts";

/** One program, in both versions. Its workflow is "W" in the texts, and has a number in realms. */
export interface EditedProgram {
  /** Path of its module in both realms. */
  readonly path: string;
  readonly type: string;
  /** The text that is replayed. */
  readonly text: string;
  /** Starts a run of the program before the edit. */
  start(options?: { readonly runId: string }): RealmRun;
  /** The realm of the programs after the edit. */
  edited(): Promise<RealmHarness>;
}

/** Runs a case with a program. */
export type UseProgram = <T>(body: (program: EditedProgram) => Promise<T>) => Promise<T>;

export class EditedPrograms {
  readonly #before: { [path: string]: string } = {};
  readonly #after: { [path: string]: string } = {};
  readonly #options: RealmOptions;
  #count = 0;
  /** Programs that no case has used yet. */
  #unused = new Set<number>();
  #first: Promise<RealmHarness> | undefined;
  #second: Promise<RealmHarness> | undefined;

  /** `options`: of the realm of the edited programs. */
  constructor(options: RealmOptions = {}) {
    this.#options = options;
  }

  /** Adds a program, before its realms are started. The realms end after the last one was used. */
  add(before: string, after: string): UseProgram {
    const number = ++this.#count;
    const [path, type] = [`/app/${number}/main.ts`, `W${number}`];
    const named = (text: string) =>
      text.replace(/workflow\("W"/, `workflow("${type}"`).replace(
        /function W\(/,
        `function ${type}(`,
      );
    this.#before[path] = named(before);
    const text = this.#after[path] = named(after);
    this.#unused.add(number);
    return async (body) => {
      try {
        const first = await (this.#first ??= createRealmFromTexts(this.#before));
        return await body({
          ...{ path, type, text },
          start: (options) => first.start(type, options),
          edited: () => this.#second ??= createRealmFromTexts(this.#after, this.#options),
        });
      } finally {
        this.#unused.delete(number);
        if (this.#unused.size === 0) await this.#end();
      }
    };
  }

  async #end(): Promise<void> {
    const realms = [this.#first, this.#second];
    this.#first = this.#second = undefined;
    // A failed start was reported by the cases.
    for (const realm of realms) await (await realm?.catch(() => undefined))?.dispose();
  }
}

/** Records a run and replays it with the edited program. */
export async function replayEdited(
  { start, edited }: EditedProgram,
  drive: (run: RealmRun) => Promise<unknown>,
) {
  const run = start();
  await drive(run);
  equal(run.failure, "");
  return await (await edited()).realm.replay(run.server.workflowId, run.server.history());
}
