// What cases of programs of `@temporalio/workflow` share: realms over their texts, and what comes
// of runs.
import { createWorkerRealm, type WorkerRealmOptions } from "../../ts/realm/mod.ts";
import { equal } from "./assert.ts";
import { inBrowser, type RealmHarness, withRealm } from "./realm_host.ts";

export type Sources = { readonly [path: string]: string };

export const IMPORTS = 'import * as wf from "@temporalio/workflow";\n';

/** A realm over several texts; the first one is the workflows'. */
export function withProgram<T>(
  sources: Sources,
  body: (h: RealmHarness) => Promise<T>,
  options: Partial<WorkerRealmOptions> = {},
): Promise<T> {
  return withRealm("", body, { workflows: Object.keys(sources)[0]!, sources, ...options });
}

export const one = (text: string): Sources => ({ "/app/main.ts": IMPORTS + text });

/** What a run of a function comes to. */
export async function resultOf(
  h: RealmHarness,
  type: string,
  ...args: unknown[]
): Promise<unknown> {
  const run = h.start(type, { args });
  const result = await run.auto();
  equal(run.failure, "");
  return result;
}

export async function failureOf(h: RealmHarness, type: string): Promise<string> {
  const run = h.start(type);
  await run.auto();
  return run.failure;
}

/** What the loader says of modules that it refuses: "file:line code name". */
export async function refusals(sources: Sources): Promise<string[]> {
  try {
    await (await createWorkerRealm({
      workflows: Object.keys(sources)[0]!,
      sources,
      ...(inBrowser ? { entry: new URL("/realm.js", location.href) } : {}),
    })).dispose();
  } catch (e) {
    const { problems = [] } = e as {
      problems?: readonly {
        file: string;
        line: number;
        code: string;
        name: string;
        message: string;
      }[];
    };
    if (problems.length === 0) throw e;
    return problems.map(({ file, line, code, name, message }) =>
      `${file}:${line} ${code} ${name}: ${message}`
    );
  }
  return [];
}
