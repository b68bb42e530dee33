// Programs made from workflow definitions.
import { JobOrder } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { DefinitionShape, VersioningBehavior } from "../program/definition.ts";
import type { Activator, Program, ProgramTable, RunContext } from "../program/program.ts";
import { NativeRun } from "./native_run.ts";
import { SDK_NAME } from "../program/sdk_name.ts";

export function nativeProgram(definition: DefinitionShape): Program {
  return {
    jobOrder: JobOrder.JOB_ORDER_NATIVE,
    sdkName: SDK_NAME,
    createActivator: (context: RunContext): Activator => new NativeRun(definition, context),
  };
}

/** The lookup that a TaskRunner wants, over the definitions of an application. Two definitions of one name are refused. */
export function nativePrograms(definitions: Iterable<DefinitionShape>): ProgramTable {
  const table = new Map<string, Program>();
  const behaviors = new Map<string, VersioningBehavior>();
  for (const definition of definitions) {
    if (table.has(definition.name)) throw new Error(`two workflows are named "${definition.name}"`);
    table.set(definition.name, nativeProgram(definition));
    if (definition.versioningBehavior !== undefined) behaviors.set(definition.name, definition.versioningBehavior);
  }
  return { names: () => [...table.keys()], get: (name) => table.get(name), takesAnyType: false, versioningBehaviors: behaviors };
}
