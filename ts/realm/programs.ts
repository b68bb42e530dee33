// The workflows of an application: what its modules export. A definition may be exported under several names, and by several modules.
import { type DefinitionShape, isWorkflowDefinition } from "../executor/program/definition.ts";
import type { ProgramTable } from "../executor/program/program.ts";
import { nativePrograms } from "../executor/run/native_program.ts";

/** A module's namespace, or an object or list of definitions. */
export type WorkflowModule = { readonly [name: string]: unknown } | readonly unknown[];

/** The definitions among the values of modules. Throws when two different ones have one name, or when there is none at all. */
export function programsOf(modules: readonly WorkflowModule[], where: string): ProgramTable {
  const definitions = new Set<DefinitionShape>();
  for (const module of modules) {
    for (const value of Object.values(module)) if (isWorkflowDefinition(value)) definitions.add(value);
  }
  if (definitions.size === 0) {
    throw new Error(`${where} export no workflow: export what workflow("Name", ...) of "temporalex/workflow" gives`);
  }
  return nativePrograms(definitions);
}
