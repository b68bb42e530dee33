// Programs made from workflow definitions.
import { JobOrder } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { DefinitionShape, VersioningBehavior } from "../scheduler/definition.ts";
import type { Activator, Program, RunContext } from "./program.ts";
import { NativeRun } from "../scheduler/run.ts";
import { SDK_NAME } from "./sdk_name.ts";

export { SDK_NAME };

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
  return { names: () => [...table.keys()], get: (name) => table.get(name), versioningBehaviors: behaviors };
}

export interface ProgramTable {
  get(workflowType: string): Program | undefined;
  /** For the message about an unknown type. */
  names(): string[];
  /** Of the types that name one. */
  readonly versioningBehaviors: ReadonlyMap<string, VersioningBehavior>;
}
