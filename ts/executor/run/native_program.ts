// Programs from workflow definitions.
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

/**
 * For messages: `two workflows are named "W": export w of a.ts, export w of b.ts`. Undefined
 * origins are omitted.
 */
export function sameNameMessage(name: string, origins: readonly (string | undefined)[]): string {
  const known = origins.filter((origin) => origin !== undefined);
  return `two workflows are named "${name}"${known.length === 0 ? "" : `: ${known.join(", ")}`}`;
}

/**
 * Returns the program table of an application's definitions. Throws if two have the same name.
 * `originOf` returns where a definition is exported.
 */
export function nativePrograms(
  definitions: Iterable<DefinitionShape>,
  originOf: (definition: DefinitionShape) => string | undefined = () => undefined,
): ProgramTable {
  const table = new Map<string, Program>();
  const first = new Map<string, DefinitionShape>();
  const behaviors = new Map<string, VersioningBehavior>();
  for (const definition of definitions) {
    const before = first.get(definition.name);
    if (before !== undefined) {
      throw new Error(sameNameMessage(definition.name, [originOf(before), originOf(definition)]));
    }
    first.set(definition.name, definition);
    table.set(definition.name, nativeProgram(definition));
    if (definition.versioningBehavior !== undefined) {
      behaviors.set(definition.name, definition.versioningBehavior);
    }
  }
  return {
    names: () => [...table.keys()],
    get: (name) => table.get(name),
    takesAnyType: false,
    versioningBehaviors: behaviors,
  };
}
