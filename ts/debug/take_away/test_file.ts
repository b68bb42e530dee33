// A divergence as a test: a file that replays the history next to it against the user's workflows.
// The test fails until the code replays the history again.
import { decodeHistoryBytes, historyToJsonValue } from "../../history_files/decode_events.ts";

/** The test runners that are supported. */
export type TestRunner = "node" | "vitest" | "deno";

/** Options of {@link testFiles}. */
export interface TestFileOptions {
  /** The test framework. */
  readonly runner: TestRunner;
  /** Base name of the files, without an extension: "order-17". */
  readonly name: string;
  /** Title of the test. Default: states that the history replays. */
  readonly title?: string;
  /** The workflow module, relative to the test file: "../src/workflows.ts". */
  readonly workflows: string;
  /** Also fail on extra commands and swapped update IDs. */
  readonly strict?: boolean;
  /** Extension of the test file. Default: what the runner finds and runs (`.test.mjs` for node). */
  readonly ending?: string;
}

/** A file to write. */
export interface TextFile {
  /** Without a folder. */
  readonly name: string;
  /** The whole content. */
  readonly text: string;
}

/**
 * The extension of test files for each runner. They are JavaScript: `node --test` runs TypeScript
 * only since Node 22.18.
 */
export const TEST_ENDINGS: { readonly [runner in TestRunner]: string } = {
  node: ".test.mjs",
  vitest: ".test.ts",
  deno: ".test.ts",
};

/** Names for the text of a test; this code does not depend on runtimes. */
const [NODE, DENO, VITEST] = ["node", "Deno", "vitest"];
const HEAD: { readonly [runner in TestRunner]: string } = {
  node: `import { readFile } from "${NODE}:fs/promises";\nimport { test } from "${NODE}:test";\n`,
  vitest: `import { readFile } from "${NODE}:fs/promises";\nimport { test } from "${VITEST}";\n`,
  deno: "",
};
/**
 * Vitest's default timeout is 5 s, which starting a realm can exceed on a busy machine; the other
 * runners have none.
 */
const LIMIT: { readonly [runner in TestRunner]: string } = {
  node: "",
  vitest: "{ timeout: 60_000 }, ",
  deno: "",
};

/** Returns the test and its history. `history`: bytes of temporal.api.history.v1.History. */
export function testFiles(
  history: Uint8Array,
  options: TestFileOptions,
): { readonly test: TextFile; readonly history: TextFile } {
  const { runner, name, workflows, strict = false, ending = TEST_ENDINGS[runner] } = options;
  const decoded = decodeHistoryBytes(history);
  const first = decoded.events[0]?.attributes;
  const type = first?.case === "workflowExecutionStartedEventAttributes"
    ? first.value.workflowType?.name ?? ""
    : "";
  const title = options.title ?? `${type} replays the history of ${name}`;
  const historyName = `${name}.history.json`;
  const body = testText({
    ...{ runner, title, workflows },
    imports: 'import { openSession } from "temporalex/debug";\n',
    before: "",
    steps: `const { problem } = await openSession(${readText(runner, historyName)}, { realm${
      strict ? ", strict: true" : ""
    } });
    if (problem !== undefined) throw new Error(\`\${problem.message}\\n    at \${problem.location || "no line is known"}\`);`,
  });
  return {
    test: { name: `${name}${ending}`, text: body },
    history: { name: historyName, text: historyJson(history) },
  };
}

/** @internal Returns the expression that reads the history next to a test. */
export const readText = (runner: TestRunner, historyName: string): string =>
  runner === "deno"
    ? `await ${DENO}.readFile(new URL(${address(`./${historyName}`)}, import.meta.url))`
    : `await readFile(new URL(${address(`./${historyName}`)}, import.meta.url))`;

/**
 * @internal Returns the text of a test that runs `steps` with a `realm` for the workflow module.
 */
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
  const realm = await createWorkerRealm({ workflows: new URL(${
    address(workflows)
  }, import.meta.url) });
  try {
    ${steps}
  } finally {
    await realm.dispose();
  }
});
`;
}

/** Converts a history to the JSON of Temporal's tools. */
export function historyJson(history: Uint8Array): string {
  return `${JSON.stringify(historyToJsonValue(decodeHistoryBytes(history)), undefined, 2)}\n`;
}

/** Returns a JavaScript literal. */
const text = (value: string): string =>
  JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");

/** Returns a path as a relative URL in a literal; characters with a meaning in URLs are escaped. */
const address = (path: string): string => text(path.replace(/[%?#]/g, encodeURIComponent));
