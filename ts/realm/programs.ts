// The workflows of an application: what its modules export. A definition may be exported under several names, and by several modules.
import { type DefinitionShape, isWorkflowDefinition, type VersioningBehavior } from "../executor/program/definition.ts";
import type { Program, ProgramTable } from "../executor/program/program.ts";
import { unknownTemporalWorkflow, unknownWorkflow } from "../executor/tasks/unknown_program.ts";
import { nativePrograms, sameNameMessage } from "../executor/run/native_program.ts";

/** A module's namespace, or an object or list of definitions. */
export type WorkflowModule = { readonly [name: string]: unknown } | readonly unknown[];

/** The workflows of programs of `@temporalio/workflow`: one program for all of them. */
export interface TemporalWorkflows {
  readonly program: Program;
  readonly names: readonly string[];
  /** Of those that name one. */
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  /** Where a workflow is exported, for messages. */
  readonly originOf?: (name: string) => string | undefined;
  /** There is a workflow for types that have none of their own. */
  readonly takesAnyType: boolean;
  /** The converter's module, evaluated for no run; undefined where there is none, or only a run can evaluate it. */
  readonly converter: { readonly [name: string]: unknown } | undefined;
}

const HOW = 'export what workflow("Name", ...) of "temporalex/workflow" gives';

/** What to do with programs of `@temporalio/workflow` that are loaded already. */
const FRESH =
  'programs of "@temporalio/workflow" are loaded by a realm in a thread, for each run afresh: give it the URLs of their modules, or the text ' +
  "of a bundle (`temporalex build`) as `sources` where no files can be read";

/** The definitions among the values of modules that are evaluated here; `where`: "the workflow modules export". Throws when two have one name, or when there is none at all. */
export function programsOf(modules: readonly WorkflowModule[], where: string): ProgramTable {
  const definitions = definitionsOf(modules);
  const functions = functionsOf(modules);
  if (definitions.size > 0) return naming(nativePrograms(definitions.keys(), (each) => definitions.get(each)), functions);
  throw new Error(`${where} no workflow: ${HOW}` + (functions.size > 0 ? `. P${FRESH.slice(1)}` : ""));
}

/** The table, where a start of what is exported as a mere function is told what such functions need. */
function naming(table: ProgramTable, functions: ReadonlySet<string>): ProgramTable {
  const hint = `. The workflow modules export a function of that name: ${FRESH}`;
  const get = (name: string) => table.get(name) ?? (functions.has(name) ? unknownWorkflow(name, table.names(), hint) : undefined);
  return { ...table, get };
}

/** The workflows of modules that a realm has loaded, of both kinds. `served` are those that its entry has. */
export function programTable(
  modules: readonly WorkflowModule[],
  temporal: TemporalWorkflows | undefined,
  where: string,
  served: readonly WorkflowModule[] = [],
  files: readonly string[] = [],
): ProgramTable {
  return naming(bothKinds([...modules, ...served], temporal, where, files), functionsOf(served));
}

function bothKinds(
  modules: readonly WorkflowModule[],
  temporal: TemporalWorkflows | undefined,
  where: string,
  files: readonly string[],
): ProgramTable {
  const definitions = definitionsOf(modules, files);
  const native = nativePrograms(definitions.keys(), (each) => definitions.get(each));
  if (temporal === undefined || (temporal.names.length === 0 && !temporal.takesAnyType)) {
    if (definitions.size > 0) return native;
    throw new Error(
      `${where} no workflow: ${HOW}` +
        (temporal === undefined ? "" : ', or async functions, in programs of "@temporalio/workflow"'),
    );
  }
  const { program, names, takesAnyType } = temporal;
  const both = names.find((name) => native.get(name) !== undefined);
  if (both !== undefined) {
    const [, origin] = [...definitions].find(([{ name }]) => name === both)!;
    throw new Error(sameNameMessage(both, [origin, temporal.originOf?.(both)]));
  }
  const known = new Set(names);
  return {
    names: () => [...native.names(), ...names],
    get: (type) => {
      if (takesAnyType || known.has(type)) return native.get(type) ?? program;
      return definitions.size > 0 ? native.get(type) : unknownTemporalWorkflow(type);
    },
    takesAnyType,
    versioningBehaviors: new Map([
      ...native.versioningBehaviors,
      ...temporal.versioningBehaviors,
    ]),
  };
}

/** Names of exported functions that are no definitions. */
function functionsOf(modules: readonly WorkflowModule[]): Set<string> {
  const all = modules.flatMap((module) => Object.entries(module));
  return new Set(all.filter(([, value]) => typeof value === "function" && !isWorkflowDefinition(value)).map(([name]) => name));
}

/** The definitions, and where each is exported first: `export cart of /app/shop.ts`. `files` are those of the first modules. */
function definitionsOf(modules: readonly WorkflowModule[], files: readonly string[] = []): Map<DefinitionShape, string> {
  const definitions = new Map<DefinitionShape, string>();
  modules.forEach((module, i) => {
    for (const [key, value] of Object.entries(module)) {
      if (!isWorkflowDefinition(value) || definitions.has(value)) continue;
      definitions.set(value, Array.isArray(module) ? `workflows[${key}]` : exportOrigin(key, files[i])!);
    }
  });
  return definitions;
}

/** `export cart of /app/shop.ts`, as far as it is known. */
export function exportOrigin(key: string | undefined, file: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  return `export ${key}${file === undefined ? "" : ` of ${file}`}`;
}
