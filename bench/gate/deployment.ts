// One deployment with all official programs that are here, and the histories that the official SDK
// recorded of them.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import {
  caseNames,
  corpusRoot,
  loadCase,
  loadRows,
} from "../../tests/unit/compat/support/corpus.ts";

export interface Recorded {
  readonly name: string;
  /** JSON of a History. */
  readonly text: string;
}

interface Program {
  readonly file: string;
  readonly histories: readonly { readonly name: string; readonly path: string }[];
}

/** Writes the programs and the module that exports them all to a folder. */
export function deployment(
  folder: string,
): { readonly module: string; readonly histories: readonly Recorded[] } {
  const programs = [...ownPrograms(), ...corpusPrograms()];
  const sources = join(folder, "programs");
  mkdirSync(sources, { recursive: true });
  const exported = new Set<string>();
  const lines: string[] = [];
  const histories: Recorded[] = [];
  for (const { file, histories: recorded } of programs) {
    const copy = basename(file);
    cpSync(file, join(sources, copy));
    const own = recorded.map(({ name, path }) => read(name, path));
    const types = new Set(own.map(({ type }) => type));
    // Another program has a workflow of that name.
    if ([...types].some((type) => exported.has(type))) continue;
    types.forEach((type) => exported.add(type));
    lines.push(`export { ${[...types].join(", ")} } from "./${copy.replace(/\.ts$/, "")}";`);
    histories.push(...own);
  }
  const module = join(sources, "index.ts");
  writeFileSync(module, `${lines.join("\n")}\n`);
  return { module, histories };
}

function read(name: string, path: string): Recorded & { readonly type: string } {
  const json = JSON.parse(readFileSync(path, "utf8"));
  const history = Array.isArray(json) ? json[0] : json;
  const { workflowType } = history.events[0].workflowExecutionStartedEventAttributes;
  return { name, text: JSON.stringify(history), type: workflowType.name };
}

/**
 * tests/unit/compat, without the program that uses randomness at the top level of its module: other
 * programs would get other numbers with it.
 */
function ownPrograms(): Program[] {
  const root = join(process.cwd(), "tests/unit/compat");
  return readdirSync(join(root, "programs")).filter((file) => file !== "determined.ts").map(
    (file) => {
      const name = file.replace(/\.ts$/, "");
      return {
        file: join(root, "programs", file),
        histories: [{ name, path: join(root, "histories", `${name}.json`) }],
      };
    },
  );
}

/**
 * The corpus, where it is: histories that their program replays, and programs that need no
 * interceptors.
 */
function corpusPrograms(): Program[] {
  const root = corpusRoot();
  if (root === undefined) return [];
  const rows = loadRows(root).filter(({ variant, verdict, cutAt }) =>
    variant === "base" && verdict === "OK" && cutAt === undefined
  );
  const programs = new Map<string, { name: string; path: string }[]>();
  for (const name of caseNames(root)) {
    const { variants, interceptors } = loadCase(root, name);
    const base = variants["base"]!;
    if (interceptors !== undefined || base.retype !== undefined) continue;
    const found = rows.filter((row) => row.case === name)
      .map(({ history }) => ({
        name: `${name}@${history}`,
        path: join(root, "corpus", `${name}@${history}.json`),
      }))
      .filter(({ path }) => existsSync(path));
    const source = join(root, "workflows", base.file);
    programs.set(source, [...programs.get(source) ?? [], ...found]);
  }
  return [...programs].map(([file, histories]) => ({ file, histories })).filter(({ histories }) =>
    histories.length > 0
  );
}
