// runtime: node
// takes: 5 s
// `temporalex/compat/proto` has each message and enumeration of the official `@temporalio/proto`,
// except packages that no WorkflowService or OperatorService uses.
import assert from "node:assert/strict";
import { test } from "node:test";
import { temporal } from "../../../ts/compat/proto/mod.ts";
import { noOfficial, official } from "./support/official.ts";

/** Types that have no counterpart (docs/temporal-programs.md). */
const ABSENT =
  /^temporal\.api\.(?:cloud|errordetails|testservice)\.|^temporal\.api\.sdk\.v1\.(?:Workflow(?:Metadata|Definition|InteractionDefinition)|ExternalStorageReference)$/;

/** A namespace, message or enumeration of protobufjs. */
interface Reflected {
  readonly nested?: { readonly [name: string]: Reflected };
  readonly fields?: { readonly [name: string]: { readonly id: number } };
  readonly values?: { readonly [name: string]: number };
}

test("each type of the official package exists with its fields and values", {
  skip: noOfficial,
}, () => {
  const missing: string[] = [];
  const absent: string[] = [];
  let types = 0;
  // deno-lint-ignore no-explicit-any
  const compare = (theirs: Reflected, ours: any, path: string): void => {
    for (const [name, type] of Object.entries(theirs.nested ?? {})) {
      const place = `${path}.${name}`;
      const own = ours?.[name];
      if (type.fields !== undefined || type.values !== undefined) {
        types++;
        const isEqual = type.values === undefined
          ? Object.keys(type.fields!).every((field) => field in (own?.create() ?? {}))
          : Object.entries(type.values).every(([value, number]) => own?.[value] === number);
        if (!isEqual) (ABSENT.test(place) ? absent : missing).push(place);
      }
      compare(type, own, place);
    }
  };
  compare(official("@temporalio/proto").temporal, temporal, "temporal");
  assert.deepEqual(missing, []);
  assert.ok(types - absent.length >= 698, `${types - absent.length} types are present`);
});
