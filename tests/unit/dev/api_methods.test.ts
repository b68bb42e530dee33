// docs/api-methods.md: the methods of Temporal's API that the server of `temporalex dev` serves, and
// what it says of the others. The API's own files list the methods, and the server is asked.
// process: own (its server is started by hooks)
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { Code } from "../../../ts/service/raw.ts";
import { grpc } from "./support/dev_server.ts";

const PAGE = "docs/api-methods.md";
const MADE = ".build/api-methods.md";
const SERVICES = ["workflowservice", "operatorservice"];

/** Service and name of each method, in the order of the API. */
function apiMethods(): { readonly service: string; readonly method: string }[] {
  return SERVICES.flatMap((folder) => {
    const file = `core-rs/proto/temporal/api/${folder}/v1/service.proto`;
    const text = readFileSync(file, "utf8");
    const name = /^service (\w+)/m.exec(text)![1]!;
    return [...text.matchAll(/^ *rpc (\w+)/gm)].map(([, method]) => ({
      service: `temporal.api.${folder}.v1.${name}`,
      method: method!,
    }));
  });
}

test("the page lists exactly the methods that the server serves", async () => {
  const rows: string[] = [];
  const methods = apiMethods();
  let served = 0;
  for (const { service, method } of methods) {
    // Without a request every served method responds at once, mostly with an error.
    const { http, status, message } = await grpc(`/${service}/${method}`);
    assert.equal(http, 200, method);
    const isRejected = status === String(Code.UNIMPLEMENTED);
    if (!isRejected) served++;
    const name = service.endsWith("OperatorService") ? `OperatorService.${method}` : method;
    rows.push(`| \`${name}\` | ${isRejected ? message : "served"} |`);
    if (isRejected) assert.match(message, new RegExp(method), "the rejection names the method");
  }
  const table = `${served} of ${methods.length} methods are served.

| method | |
|---|---|
${rows.join("\n")}
`;
  const page = readFileSync(PAGE, "utf8");
  const at = page.indexOf("<!-- methods -->\n") + "<!-- methods -->\n".length;
  const made = `${page.slice(0, at)}\n${table}`;
  if (page === made) return;
  mkdirSync(".build", { recursive: true });
  writeFileSync(MADE, made);
  assert.equal(page, made, `${PAGE} is old; a new one is made: cp ${MADE} ${PAGE}`);
});
