// The workflows of an application: exports of its modules. A definition may be exported under
// several names, and by several modules.
import {
  type DefinitionShape,
  isWorkflowDefinition,
  type VersioningBehavior,
} from "../executor/program/definition.ts";
import type { Program, ProgramTable } from "../executor/program/program.ts";
import { unknownTemporalWorkflow, unknownWorkflow } from "../executor/tasks/unknown_program.ts";
import { nativePrograms, sameNameMessage } from "../executor/run/native_program.ts";

/** A module's namespace, or an object or list of definitions. */
export type WorkflowModule = { readonly [name: string]: unknown } | readonly unknown[];

/** The workflows of `@temporalio/workflow` programs: one program for all of them. */
export interface TemporalWorkflows {
  readonly program: Program;
  readonly names: readonly string[];
  /** By type, for workflows that set one. */
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
  /** Returns where a workflow is exported, for messages. */
  readonly originOf?: (name: string) => string | undefined;
  /** True if a default workflow handles types without a workflow of their name. */
  readonly takesAnyType: boolean;
  /**
   * Namespace of the converter's module, evaluated for no run; undefined without one, or if only a
   * run can evaluate it.
   */
  readonly converter: { readonly [name: string]: unknown } | undefined;
}

const HOW = 'export what workflow("Name", ...) of "temporalex/workflow" gives';

/** How to create fresh modules for `@temporalio/workflow` programs that are already loaded. */
const FRESH =
  'programs of "@temporalio/workflow" are loaded by a realm in a thread, for each run afresh: give it the URLs of their modules, or the text ' +
  "of a bundle (`temporalex build`) as `sources` where no files can be read";

/**
 * Returns the definitions among the exports of modules evaluated here. `where` begins messages:
 * "the workflow modules export". Throws for duplicate names, and if the modules export no
 * definition.
 */
export function programsOf(modules: readonly WorkflowModule[], where: string): ProgramTable {
  const definitions = definitionsOf(modules);
  const functions = functionsOf(modules);
  if (definitions.size > 0) {
    return naming(nativePrograms(definitions.keys(), (each) => definitions.get(each)), functions);
  }
  throw new Error(
    `${where} no workflow: ${HOW}` + (functions.size > 0 ? `. P${FRESH.slice(1)}` : ""),
  );
}

/** Adds to the errors about starting a plain exported function what such functions need. */
function naming(table: ProgramTable, functions: ReadonlySet<string>): ProgramTable {
  const hint = `. The workflow modules export a function of that name: ${FRESH}`;
  const get = (name: string) =>
    table.get(name) ??
      (functions.has(name) ? unknownWorkflow(name, table.names(), hint) : undefined);
  return { ...table, get };
}

/** Returns the workflows of a realm's modules, of both kinds. `served`: those of its entry. */
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
        (temporal === undefined
          ? ""
          : ', or async functions, in programs of "@temporalio/workflow"'),
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

/** Returns names of exported functions that are not definitions. */
function functionsOf(modules: readonly WorkflowModule[]): Set<string> {
  const all = modules.flatMap((module) => Object.entries(module));
  return new Set(
    all.filter(([, value]) => typeof value === "function" && !isWorkflowDefinition(value)).map((
      [name],
    ) => name),
  );
}

/**
 * Returns the definitions and where each is first exported: `export cart of /app/shop.ts`. `files`:
 * those of the first modules.
 */
function definitionsOf(
  modules: readonly WorkflowModule[],
  files: readonly string[] = [],
): Map<DefinitionShape, string> {
  const definitions = new Map<DefinitionShape, string>();
  modules.forEach((module, i) => {
    for (const [key, value] of Object.entries(module)) {
      if (!isWorkflowDefinition(value) || definitions.has(value)) continue;
      definitions.set(
        value,
        Array.isArray(module) ? `workflows[${key}]` : exportOrigin(key, files[i])!,
      );
    }
  });
  return definitions;
}

/** Returns `export cart of /app/shop.ts`, as far as it is known. */
export function exportOrigin(
  key: string | undefined,
  file: string | undefined,
): string | undefined {
  if (key === undefined) return undefined;
  return `export ${key}${file === undefined ? "" : ` of ${file}`}`;
}
