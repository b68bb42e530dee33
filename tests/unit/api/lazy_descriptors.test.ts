// Importing the package builds no descriptors: they would double its import time. A separate file,
// because a process builds them once.
// process: own (no other test has built them)
import assert from "node:assert/strict";
import { test } from "node:test";
import * as temporalex from "../../../ts/mod.ts";
import * as realm from "../../../ts/realm/mod.ts";
import * as messages from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import * as failure from "../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import * as workflow from "../../../ts/workflow/mod.ts";
import { WorkflowService } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";

const schemas = Object.entries({ ...messages, ...failure, WorkflowService })
  .filter(([name]) => /Schema$|^file_|^WorkflowService$/.test(name)) as [string, object][];
const built = () =>
  schemas.filter(([, schema]) => Object.hasOwn(schema, "kind")).map(([name]) => name);

test("importing the package and creating a client do not build descriptors", () => {
  assert.ok(
    schemas.length > 50 && Object.keys(temporalex).length > 50 && "serveRealm" in realm &&
      "sleep" in workflow,
  );
  assert.deepEqual(built(), []);
  new temporalex.Client({ service: { call: () => Promise.reject(new Error("unexpected call")) } });
  assert.deepEqual(built(), []);
  assert.equal(messages.StartWorkflowExecutionRequestSchema.kind, "message");
  assert.deepEqual(built().filter((name) => name.endsWith("Schema")), [
    "StartWorkflowExecutionRequestSchema",
  ]);
});
