// runtime: node (compares servers and programs; other files cover the runtime)
// Every method of WorkflowService and OperatorService on this package's connections
// (`connection.workflowService.*`, `connection.operatorService.*`): the official package's methods,
// its messages over our bytes and back, and a server's responses to both.
// takes: 20 s
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Connection, isGrpcServiceError } from "../../../ts/compat/client/mod.ts";
import { NativeConnection } from "../../../ts/compat/worker/connection.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, official, root } from "./support/official.ts";
import { OurServer } from "./support/our_server.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const api = noOfficial === false
  ? createRequire(join(root, "tests/system/interop/x.js"))("@temporalio/proto")
  : undefined;
const camel = (name: string) => name[0]!.toLowerCase() + name.slice(1);
const PACKAGES = {
  workflowService: "WorkflowService",
  operatorService: "OperatorService",
} as const;
type ServiceName = keyof typeof PACKAGES;
const SERVICES = Object.keys(PACKAGES) as ServiceName[];

function methodsOf(service: ServiceName): readonly Any[] {
  const { methodsArray } = api.temporal.api[PACKAGES[service].toLowerCase()].v1[PACKAGES[service]];
  return methodsArray.map((method: Any) => method.resolve()).sort((
    a: Any,
    b: Any,
  ) => a.name < b.name ? -1 : 1);
}

let server: DevServer;
let ours: Connection;
let theirs: Any;

before(async () => {
  if (noServer || noOfficial) return;
  server = await DevServer.start();
  ours = await Connection.connect({ address: server.address });
  theirs = await official("@temporalio/client").Connection.connect({
    address: server.address,
  });
});

after(async () => {
  await ours?.close();
  await theirs?.close();
  await server?.stop();
});

/** A message with something in every field; of a oneof in its last one. */
function sample(type: Any, depth = 0): Any {
  const fields: { [name: string]: unknown } = {};
  for (const field of type.fieldsArray) {
    field.resolve();
    const last = field.partOf?.fieldsArray.at(-1);
    if (last !== undefined && last !== field) continue;
    const resolved = field.resolvedType;
    if (resolved?.fieldsArray !== undefined && depth > 2) continue;
    const one = resolved === null || resolved === undefined
      ? scalar(field.type)
      : resolved.fieldsArray !== undefined
      ? sample(resolved, depth + 1)
      : Object.values(resolved.values).at(-1);
    fields[field.name] = field.map ? { key: one } : field.repeated ? [one, one] : one;
  }
  return type.fromObject(fields);
}

function scalar(type: string): unknown {
  if (type === "string") return "text";
  if (type === "bytes") return new Uint8Array([1, 2]);
  return type === "bool" ? true : 3;
}

test(
  "the methods are those of the official package",
  { skip: noOfficial },
  () => {
    const connection = Connection.over({
      call: () => Promise.reject(new Error("none")),
    });
    for (const service of SERVICES) {
      assert.deepEqual(
        Object.keys(connection[service]).sort(),
        methodsOf(service).map(({ name }) => camel(name)).sort(),
      );
    }
  },
);

test(
  "messages of every method are encoded and decoded like in the official package",
  {
    skip: noOfficial,
  },
  async () => {
    let sent = new Uint8Array(), answer = new Uint8Array();
    let asked = "";
    const answered = (method: string, request: Uint8Array) => {
      asked = method;
      sent = Uint8Array.from(request);
      return Promise.resolve(answer);
    };
    const connection = Connection.over({ call: answered, callOther: answered });
    const plain = (type: Any, bytes: Uint8Array) =>
      type.toObject(type.decode(bytes), { longs: String, bytes: Array });
    const all = SERVICES.flatMap((service) =>
      methodsOf(service).map((method) => ({ service, method }))
    );
    for (
      const {
        service,
        method: { name, resolvedRequestType, resolvedResponseType },
      } of all
    ) {
      const request = sample(resolvedRequestType),
        response = sample(resolvedResponseType);
      answer = resolvedResponseType.encode(response).finish();
      const got = await (connection[service] as Any)[camel(name)](request);
      assert.equal(
        asked,
        service === "workflowService"
          ? camel(name)
          : `/temporal.api.operatorservice.v1.OperatorService/${name}`,
      );
      assert.deepEqual(
        plain(resolvedRequestType, sent),
        plain(
          resolvedRequestType,
          resolvedRequestType.encode(request).finish(),
        ),
        name,
      );
      assert.deepEqual(
        plain(resolvedResponseType, resolvedResponseType.encode(got).finish()),
        plain(resolvedResponseType, answer),
        name,
      );
    }
    assert.ok(all.length > 130);
  },
);

/** Entries of maps come in any order. */
function sorted(_: string, value: unknown): unknown {
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1),
  );
}

/** What a call comes to, without what differs from call to call. */
async function outcome(
  service: Any,
  method: string,
  request: object,
): Promise<unknown> {
  try {
    const answer = JSON.stringify(await service[method](request), sorted);
    return answer.replace(
      /"(?:seconds|nanos|low|high)":-?"?\d+"?|"[\w+/-]{22,}=*"(?!:)/g,
      "0",
    );
  } catch (error) {
    const { code, details } = error as { code: number; details: string };
    return { code, details };
  }
}

test(
  "a Temporal server responds to both connections alike",
  { skip: noServer || noOfficial },
  async () => {
    const namespace = "default",
      workflowExecution = { workflowId: "none", runId: "" };
    const deploymentVersion = { deploymentName: "none", buildId: "1" };
    const calls: [string, object][] = [
      ["listWorkerDeployments", { namespace, pageSize: 10 }],
      ["describeWorkerDeployment", { namespace, deploymentName: "none" }],
      ["describeWorkerDeploymentVersion", { namespace, deploymentVersion }],
      ["setWorkerDeploymentCurrentVersion", {
        namespace,
        deploymentName: "none",
        buildId: "1",
      }],
      ["setWorkerDeploymentRampingVersion", {
        namespace,
        deploymentName: "none",
        buildId: "1",
        percentage: 10,
      }],
      ["deleteWorkerDeployment", { namespace, deploymentName: "none" }],
      ["updateNamespace", {
        namespace,
        updateInfo: { description: "described", data: { a: "b" } },
      }],
      ["listWorkers", { namespace }],
      ["listBatchOperations", { namespace }],
      ["describeBatchOperation", { namespace, jobId: "none" }],
      ["scanWorkflowExecutions", { namespace, query: "" }],
      ["listClosedWorkflowExecutions", {
        namespace,
        executionFilter: { workflowId: "x" },
        startTimeFilter: {},
      }],
      ["listTaskQueuePartitions", { namespace, taskQueue: { name: "q" } }],
      ["updateActivityOptions", {
        namespace,
        execution: workflowExecution,
        id: "1",
      }],
      ["updateWorkflowExecutionOptions", {
        namespace,
        workflowExecution,
        updateMask: { paths: ["versioning_override"] },
      }],
      ["getWorkerVersioningRules", { namespace, taskQueue: "q" }],
    ];
    for (const [method, request] of calls) {
      const [our, their] = [ours, theirs].map(({ workflowService }) =>
        outcome(workflowService, method, request)
      );
      assert.deepEqual(await our, await their, method);
    }
    assert.match(
      String(
        await outcome(ours.workflowService, "describeNamespace", { namespace }),
      ),
      /described/,
    );

    const operated: [string, object][] = [
      ["listSearchAttributes", { namespace }],
      ["removeSearchAttributes", { namespace, searchAttributes: ["NotThere"] }],
      ["addSearchAttributes", { namespace, searchAttributes: {} }],
      ["deleteNamespace", { namespace: "not-there" }],
      ["getNexusEndpoint", { id: "not-there" }],
      ["deleteNexusEndpoint", { id: "not-there", version: 1 }],
      ["listNexusEndpoints", {}],
      ["listClusters", {}],
      ["removeRemoteCluster", { clusterName: "not-there" }],
    ];
    for (const [method, request] of operated) {
      const [our, their] = [ours, theirs].map(({ operatorService }) =>
        outcome(operatorService, method, request)
      );
      assert.deepEqual(await our, await their, method);
    }
    const Office = 2;
    await ours.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: { Office },
    });
    const { customAttributes } = await theirs.operatorService
      .listSearchAttributes({ namespace });
    assert.equal(customAttributes.Office, Office);
  },
);

test(
  "worker connections have the methods too; unknown method names are rejected",
  {
    skip: noServer,
  },
  async () => {
    const native = await NativeConnection.connect({ address: server.address });
    try {
      const { workerDeployments } = await native.workflowService
        .listWorkerDeployments({
          namespace: "default",
        });
      assert.deepEqual(workerDeployments, []);
      const { clusters } = await native.operatorService.listClusters({});
      assert.equal((clusters as unknown[]).length, 1);
      await assert.rejects(
        (native.operatorService as Any).describeWeather({}),
        /operatorService\.describeWeather is not a method of the API/,
      );
      await assert.rejects(
        (native.workflowService as Any).describeWeather({}),
        /workflowService\.describeWeather is not a method of the API/,
      );
    } finally {
      await native.close();
    }
  },
);

test("`temporalex dev` names methods that it does not support", async () => {
  const own = await OurServer.start();
  const connection = await Connection.connect({ address: own.address });
  try {
    const refused = connection.workflowService.getWorkerVersioningRules({
      namespace: "default",
      taskQueue: "x",
    });
    await assert.rejects(
      refused,
      (error) => isGrpcServiceError(error) && error.code === 12,
    );
    const { systemAttributes } = await connection.operatorService
      .listSearchAttributes({
        namespace: "default",
      });
    assert.ok("WorkflowType" in (systemAttributes as object));
    await assert.rejects(
      connection.operatorService.listClusters({}),
      (error) => isGrpcServiceError(error) && error.code === 12,
    );
  } finally {
    await connection.close();
    await own.stop();
  }
});

test("an embedded engine has no operator service", async () => {
  const { operatorService } = Connection.over({
    call: () => Promise.reject(new Error("not called")),
  });
  const refused = operatorService.addSearchAttributes({
    searchAttributes: { Office: 2 },
  });
  const says =
    /no OperatorService \(AddSearchAttributes\); search attributes need no registration there/;
  await assert.rejects(
    refused,
    (error) =>
      isGrpcServiceError(error) && error.code === 12 &&
      says.test(error.details),
  );
});
