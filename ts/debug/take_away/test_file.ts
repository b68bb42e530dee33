// A divergence as a test: one file that replays the history beside it against the user's workflows, and fails until the code replays it again.
import { decodeHistoryBytes, historyToJsonValue } from "../../history_files/decode_events.ts";

/** What runs the test. */
export type TestRunner = "node" | "vitest" | "deno";

/** Options of {@link testFiles}. */
export interface TestFileOptions {
  /** What runs the test. */
  readonly runner: TestRunner;
  /** Of the files, without an ending: "order-17". */
  readonly name: string;
  /** What the test is called. Default: says that the history replays. */
  readonly title?: string;
  /** The workflow module, as the test file's own address has it: "../src/workflows.ts". */
  readonly workflows: string;
  /** Extra commands and swapped update ids fail, too. */
  readonly strict?: boolean;
  /** Of the test's file. Default: what the runner finds and takes (`.test.mjs` for node). */
  readonly ending?: string;
}

/** A file to write. */
export interface TextFile {
  /** Name of the file. */
  readonly name: string;
  /** Its text. */
  readonly text: string;
}

/** The ending of a test's file for each runner. Its text is JavaScript: `node --test` runs TypeScript from Node 22.18 on alone. */
export const TEST_ENDINGS: { readonly [runner in TestRunner]: string } = {
  node: ".test.mjs",
  vitest: ".test.ts",
  deno: ".test.ts",
};

/** Names in the text of a test, not in this room. */
const [NODE, DENO, VITEST] = ["node", "Deno", "vitest"];
const HEAD: { readonly [runner in TestRunner]: string } = {
  node: `import { readFile } from "${NODE}:fs/promises";\nimport { test } from "${NODE}:test";\n`,
  vitest: `import { readFile } from "${NODE}:fs/promises";\nimport { test } from "${VITEST}";\n`,
  deno: "",
};
/** Vitest ends a test after 5 s, which starting a realm may take on a busy machine; the others wait. */
const LIMIT: { readonly [runner in TestRunner]: string } = { node: "", vitest: "{ timeout: 60_000 }, ", deno: "" };

/** The test and its history. `history`: bytes of temporal.api.history.v1.History. */
export function testFiles(
  history: Uint8Array,
  options: TestFileOptions,
): { readonly test: TextFile; readonly history: TextFile } {
  const { runner, name, workflows, strict = false, ending = TEST_ENDINGS[runner] } = options;
  const decoded = decodeHistoryBytes(history);
  const first = decoded.events[0]?.attributes;
  const type = first?.case === "workflowExecutionStartedEventAttributes" ? first.value.workflowType?.name ?? "" : "";
  const title = options.title ?? `${type} replays the history of ${name}`;
  const historyName = `${name}.history.json`;
  const body = testText({
    ...{ runner, title, workflows },
    imports: 'import { openSession } from "temporalex/debug";\n',
    before: "",
    steps: `const { problem } = await openSession(${readText(runner, historyName)}, { realm${strict ? ", strict: true" : ""} });
    if (problem !== undefined) throw new Error(\`\${problem.message}\\n    at \${problem.location || "no line is known"}\`);`,
  });
  return {
    test: { name: `${name}${ending}`, text: body },
    history: { name: historyName, text: historyJson(history) },
  };
}

/** @internal The expression that reads the history beside a test. */
export const readText = (runner: TestRunner, historyName: string): string =>
  runner === "deno"
    ? `await ${DENO}.readFile(new URL(${address(`./${historyName}`)}, import.meta.url))`
    : `await readFile(new URL(${address(`./${historyName}`)}, import.meta.url))`;

/** @internal A test's file: `steps` run with a `realm` for the workflow module. */
export function testText({ runner, title, workflows, imports, before, steps }: {
  readonly runner: TestRunner;
  readonly title: string;
  readonly workflows: string;
  readonly imports: string;
  readonly before: string;
  readonly steps: string;
}): string {
  const declare = runner === "deno" ? `${DENO}.test` : "test";
  return `${HEAD[runner]}${imports}import { createWorkerRealm } from "temporalex/realm";

${before}${declare}(${text(title)}, ${LIMIT[runner]}async () => {
  const realm = await createWorkerRealm({ workflows: new URL(${address(workflows)}, import.meta.url) });
  try {
    ${steps}
  } finally {
    await realm.dispose();
  }
});
`;
}

/** A history as JSON that Temporal's tools read. */
export function historyJson(history: Uint8Array): string {
  return `${JSON.stringify(historyToJsonValue(decodeHistoryBytes(history)), undefined, 2)}\n`;
}

/** A literal; in JSON's form it is one of JavaScript's. */
const text = (value: string): string => JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

/** A path as a relative address: what ends one, or escapes in one, is escaped. */
const address = (path: string): string => text(path.replace(/[%?#]/g, encodeURIComponent));
