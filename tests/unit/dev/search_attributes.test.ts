// The register of search attributes: additions and removals, what starts and queries accept, what a
// file keeps. By the calls of Temporal's OperatorService and on the engine itself.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { operatorMethods } from "../../../ts/dev/operator.ts";
import { type EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import {
  AddSearchAttributesRequest as Add,
  ListSearchAttributesResponse as Listed,
  ListSearchAttributesResponse_SystemAttributesEntry as Entry,
  RemoveSearchAttributesRequest as Remove,
} from "../../../ts/messages/generated/fields.ts";
import type { Namespaces } from "../../../ts/dev/namespaces.ts";
import { Fields, Message } from "../../../ts/messages/wire.ts";
import { inFolder, whileOpen } from "../engine/support/stores.ts";

const KEYWORD = 2;
const INT = 3;

function operator(engine: EmbeddedEngine) {
  const methods = operatorMethods({ requiredEngine: () => engine } as unknown as Namespaces);
  const call = async (name: string, request: Message) =>
    await methods.find(({ method }) => method === name)!.unary!(
      request.finish(),
      new AbortController().signal,
    );
  return {
    add(types: { readonly [name: string]: number }) {
      const request = new Message();
      for (const [name, type] of Object.entries(types)) {
        request.message(
          Add.searchAttributes,
          (entry) => entry.text(Entry.key, name).int(Entry.value, type),
        );
      }
      return call("AddSearchAttributes", request.text(Add.namespace, "default"));
    },
    remove(name: string) {
      return call("RemoveSearchAttributes", new Message().text(Remove.searchAttributes, name));
    },
    async custom() {
      const found: [string, number][] = [];
      const listed = await call("ListSearchAttributes", new Message());
      for (const at = new Fields(listed); at.next();) {
        if (at.tag !== Listed.customAttributes) continue;
        let [name, type] = ["", 0];
        for (const entry = at.inner(); entry.next();) {
          if (entry.tag === Entry.key) name = entry.text();
          else type = entry.int();
        }
        found.push([name, type]);
      }
      return Object.fromEntries(found);
    },
  };
}

test("without a register every name is taken; with one only registered names", () =>
  whileOpen({ store: new MemoryStore() }, async (engine) => {
    const { add, remove, custom } = operator(engine);
    const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
    const start = (id: string, searchAttributes: { [name: string]: string | number }) =>
      client.start("W", { id, searchAttributes });
    await start("free", { Anything: "x" });
    await add({ Customer: KEYWORD, Amount: INT });
    assert.deepEqual(await custom(), { Customer: KEYWORD, Amount: INT });
    await start("known", { Customer: "ada", Amount: 7 });
    await assert.rejects(
      start("unknown", { Anything: "x" }),
      /Namespace default has no mapping defined for search attribute Anything/,
    );
    await assert.rejects(
      start("wrong", { Amount: "many" }),
      /invalid value for search attribute Amount of type Int: many/,
    );
    assert.equal(await client.count('Customer = "ada"'), 1);
    await assert.rejects(client.count("Anything = 'x'"), /"Anything" is not registered/);
    await remove("Amount");
    assert.deepEqual(await custom(), { Customer: KEYWORD });
    await assert.rejects(start("removed", { Amount: 7 }), /no mapping defined/);
  }));

test("names of the system and unknown types are rejected; a known name keeps its type", () =>
  whileOpen({ store: new MemoryStore() }, async (engine) => {
    const { add, remove, custom } = operator(engine);
    await assert.rejects(add({}), /SearchAttributes are not set on request/);
    await assert.rejects(add({ WorkflowId: KEYWORD }), /WorkflowId is reserved by system/);
    await assert.rejects(add({ Customer: 99 }), /Unknown search attribute type: 99/);
    await assert.rejects(add({ "a b": KEYWORD }), /invalid search attribute name "a b"/);
    await assert.rejects(remove("StartTime"), /Unable to remove non-custom search attributes/);
    assert.deepEqual(await custom(), {});
    await add({ Customer: KEYWORD });
    await add({ Customer: INT });
    assert.deepEqual(await custom(), { Customer: KEYWORD });
    assert.throws(
      () => engine.addSearchAttributes({ Other: "Number" as "Int" }),
      /unknown type "Number" of search attribute Other/,
    );
  }));

test("a file keeps the register", () =>
  inFolder(async (folder) => {
    const path = join(folder, "store.sqlite");
    await whileOpen({ path }, async (engine) => {
      engine.addSearchAttributes({ Customer: "Keyword" });
    });
    await whileOpen({ path }, async (engine) => {
      assert.deepEqual(engine.store.attributeTypes(), { Customer: KEYWORD });
      const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
      await assert.rejects(
        client.start("W", { id: "w", searchAttributes: { Other: "x" } }),
        /no mapping defined for search attribute Other/,
      );
    });
  }));
