// Makes ts/messages/generated/fields.ts: the fields of the messages that TypeScript reads and
// writes without their descriptors, by name. A field is its tag, as on the wire: number * 8 + wire
// type, so that a field of another type than the message's is an unknown one, as protobuf says. To
// read another message or field, add it here and run `node tools/gen_proto.mjs`.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFileRegistry, createRegistry, fromBinary, ScalarType } from "@bufbuild/protobuf";
import {
  file_google_protobuf_any,
  file_google_protobuf_descriptor,
  file_google_protobuf_wrappers,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";

const WORKFLOWSERVICE = "temporal.api.workflowservice.v1";
const COMMON = "temporal.api.common.v1";
const HISTORY = "temporal.api.history.v1";
const NAMESPACE = "temporal.api.namespace.v1";
const REPLICATION = "temporal.api.replication.v1";
const TASKQUEUE = "temporal.api.taskqueue.v1";
/** What the engine stores of a run, and what its calls answer. */
const ENGINE = "temporalex.engine.v1";

/**
 * By package or outer message: the messages, whole, or with those of their fields that are wanted.
 */
const MESSAGES = {
  [WORKFLOWSERVICE]: {
    PollWorkflowTaskQueueRequest: "namespace taskQueue identity workerVersionCapabilities deploymentOptions workerInstanceKey",
    PollWorkflowTaskQueueResponse: "taskToken workflowExecution workflowType previousStartedEventId startedEventId attempt history " +
      "query scheduledTime startedTime queries pollerScalingDecision",
    PollActivityTaskQueueRequest: "namespace taskQueue identity taskQueueMetadata workerVersionCapabilities deploymentOptions " +
      "workerInstanceKey",
    PollActivityTaskQueueResponse: "taskToken pollerScalingDecision",
    PollNexusTaskQueueRequest: "namespace taskQueue identity workerVersionCapabilities deploymentOptions workerInstanceKey",
    PollNexusTaskQueueResponse: "taskToken pollerScalingDecision",
    RespondWorkflowTaskCompletedRequest: "taskToken commands returnNewWorkflowTask messages workerVersionStamp versioningBehavior " +
      "deploymentOptions meteringMetadata",
    RespondWorkflowTaskCompletedResponse: "",
    StartWorkflowExecutionRequest: "namespace taskQueue requestEagerExecution eagerWorkerDeploymentOptions",
    StartWorkflowExecutionResponse: "eagerWorkflowTask",
    RespondWorkflowTaskFailedRequest: "taskToken cause failure identity namespace workerVersion deploymentOptions",
    RespondQueryTaskCompletedRequest: "taskToken completedType errorMessage namespace failure cause",
    GetWorkflowExecutionHistoryRequest: "waitNewEvent",
    GetWorkflowExecutionHistoryResponse: "",
    GetSystemInfoResponse: "",
    DescribeNamespaceRequest: "namespace id",
    DescribeNamespaceResponse: "",
    ListNamespacesResponse: "namespaces",
    RegisterNamespaceRequest: "",
    ShutdownWorkerRequest: "workerInstanceKey",
  },
  [`${WORKFLOWSERVICE}.GetSystemInfoResponse`]: { Capabilities: "" },
  [NAMESPACE]: { NamespaceInfo: "", NamespaceConfig: "" },
  [`${NAMESPACE}.NamespaceInfo`]: { Capabilities: "", Limits: "" },
  [REPLICATION]: { NamespaceReplicationConfig: "", ClusterReplicationConfig: "" },
  [COMMON]: {
    ...{ DataBlob: "", Memo: "", Payload: "metadata data", Payloads: "", SearchAttributes: "", WorkflowExecution: "", WorkflowType: "" },
    ...{ ActivityType: "", Header: "", Priority: "priorityKey fairnessKey fairnessWeight" },
    MeteringMetadata: "",
    ...{ WorkerVersionCapabilities: "buildId useVersioning", WorkerVersionStamp: "" },
  },
  "temporal.api.deployment.v1": { WorkerDeploymentOptions: "", WorkerDeploymentVersion: "" },
  "temporal.api.nexus.v1": {
    ...{ Endpoint: "", EndpointSpec: "", EndpointTarget: "" },
  },
  "temporal.api.nexus.v1.EndpointTarget": { Worker: "", External: "" },
  [HISTORY]: {
    History: "",
    HistoryEvent: "eventId eventTime eventType userMetadata workflowExecutionStartedEventAttributes",
    ActivityTaskScheduledEventAttributes: "activityId activityType input",
    WorkflowExecutionStartedEventAttributes: "workflowType parentWorkflowNamespace parentWorkflowExecution " +
      "continuedFailure lastCompletionResult originalExecutionRunId workflowExecutionExpirationTime retryPolicy cronSchedule " +
      "firstWorkflowTaskBackoff memo searchAttributes header rootWorkflowExecution priority",
    MarkerRecordedEventAttributes: "markerName",
  },
  "temporal.api.sdk.v1": { UserMetadata: "summary" },
  "temporal.api.query.v1": { WorkflowQuery: "queryType" },
  [TASKQUEUE]: { PollerScalingDecision: "", TaskQueue: "", TaskQueueMetadata: "" },
  "temporal.api.command.v1": {
    Command: "commandType scheduleActivityTaskCommandAttributes",
    ScheduleActivityTaskCommandAttributes: "activityId taskQueue header input requestEagerExecution",
  },
  "temporal.api.protocol.v1": { Message: "body" },
  "temporal.api.failure.v1": { Failure: "message stackTrace encodedAttributes" },
  "temporalex.boundary.v1": { ScheduleActivity: "arguments headers", ScheduleLocalActivity: "arguments headers" },
  [ENGINE]: {
    ...{ Head: "", PairResponse: "", TaskState: "scheduledId startedId attempt scheduledUs originalScheduledUs startToCloseUs inHistory", TimerState: "" },
    ActivityState: "scheduledId attempt scheduledUs firstScheduledUs cancelRequestedId expirationUs attrs heartbeatDetails pausedUs",
    ...{ ChildState: "", ResetPoint: "", UpdateState: "", TaskToken: "runId", AttributeRegister: "", AttributeType: "" },
    ...{ TaskQueueConfigs: "", TaskQueueConfig: "", TaskRate: "", KeyWeight: "" },
    ...{ NexusOutcome: "", NexusCallEnded: "", NexusEndpoints: "", NexusEndpoint: "", Routing: "", RoutedQueue: "" },
  },
  "google.protobuf": {
    ...{ Any: "", Timestamp: "", Duration: "", DoubleValue: "" },
    ...{ FileDescriptorProto: "name package dependency messageType enumType service extension options syntax edition" },
    ...{ DescriptorProto: "name field nestedType enumType extension options oneofDecl", OneofDescriptorProto: "name" },
    ...{
      FieldDescriptorProto: "name extendee number label type typeName defaultValue options oneofIndex jsonName proto3Optional",
    },
    ...{ EnumDescriptorProto: "name value options", EnumValueDescriptorProto: "name number options" },
    ...{ ServiceDescriptorProto: "name method options" },
    ...{ MethodDescriptorProto: "name inputType outputType options clientStreaming serverStreaming" },
    ...{ FileOptions: "deprecated", MessageOptions: "deprecated mapEntry", FieldOptions: "packed deprecated jstype" },
    ...{ EnumOptions: "deprecated", EnumValueOptions: "deprecated", ServiceOptions: "deprecated" },
    ...{ MethodOptions: "deprecated idempotencyLevel" },
  },
};

/**
 * Messages of public APIs whose .proto files are not in core-rs/proto: name, number and wire type
 * of their fields.
 */
const VARINT = 0, DELIMITED = 2;
const OTHERS = {
  // An entry of a map whose keys are texts, and whose values are texts, bytes or messages.
  MapEntry: { key: [1, DELIMITED], value: [2, DELIMITED] },
  // google/rpc
  RpcStatus: { code: [1, VARINT], message: [2, DELIMITED], details: [3, DELIMITED] },
  ErrorInfo: { reason: [1, DELIMITED], domain: [2, DELIMITED], metadata: [3, DELIMITED] },
  // grpc/health/v1
  HealthCheckRequest: { service: [1, DELIMITED] },
  HealthCheckResponse: { status: [1, VARINT] },
  // temporal/api/operatorservice/v1
  AddSearchAttributesRequest: { searchAttributes: [1, DELIMITED], namespace: [2, DELIMITED] },
  RemoveSearchAttributesRequest: { searchAttributes: [1, DELIMITED], namespace: [2, DELIMITED] },
  ListSearchAttributesRequest: { namespace: [1, DELIMITED] },
  ListSearchAttributesResponse: { customAttributes: [1, DELIMITED], systemAttributes: [2, DELIMITED] },
  ListSearchAttributesResponse_SystemAttributesEntry: { key: [1, DELIMITED], value: [2, VARINT] },
  CreateNexusEndpointRequest: { spec: [1, DELIMITED] },
  UpdateNexusEndpointRequest: { id: [1, DELIMITED], version: [2, VARINT], spec: [3, DELIMITED] },
  DeleteNexusEndpointRequest: { id: [1, DELIMITED], version: [2, VARINT] },
  GetNexusEndpointRequest: { id: [1, DELIMITED] },
  ListNexusEndpointsRequest: { pageSize: [1, VARINT], nextPageToken: [2, DELIMITED], name: [3, DELIMITED] },
  ListNexusEndpointsResponse: { nextPageToken: [1, DELIMITED], endpoints: [2, DELIMITED] },
  // Of CreateNexusEndpoint, UpdateNexusEndpoint and GetNexusEndpoint.
  NexusEndpointResponse: { endpoint: [1, DELIMITED] },
  DeleteNamespaceRequest: { namespace: [1, DELIMITED], namespaceId: [2, DELIMITED] },
  // temporal/api/workflowservice/v1
  DeprecateNamespaceRequest: { namespace: [1, DELIMITED] },
  // temporal/api/errordetails/v1
  ActivityExecutionAlreadyStartedFailure: { startRequestId: [1, DELIMITED], runId: [2, DELIMITED] },
  WorkflowExecutionAlreadyStartedFailure: { startRequestId: [1, DELIMITED], runId: [2, DELIMITED] },
  NamespaceNotFoundFailure: { namespace: [1, DELIMITED] },
  NamespaceNotActiveFailure: { namespace: [1, DELIMITED], currentCluster: [2, DELIMITED], activeCluster: [3, DELIMITED] },
  NamespaceInvalidStateFailure: { namespace: [1, DELIMITED] },
  NewerBuildExistsFailure: { defaultBuildId: [1, DELIMITED] },
  PermissionDeniedFailure: { reason: [1, DELIMITED] },
  QueryFailedFailure: { failure: [1, DELIMITED] },
  ResourceExhaustedFailure: { cause: [1, VARINT] },
  MultiOperationExecutionFailure: { statuses: [1, DELIMITED] },
};

const SCALAR_TYPES = {
  [ScalarType.DOUBLE]: 1,
  [ScalarType.FIXED64]: 1,
  [ScalarType.SFIXED64]: 1,
  [ScalarType.FLOAT]: 5,
  [ScalarType.FIXED32]: 5,
  [ScalarType.SFIXED32]: 5,
  [ScalarType.STRING]: DELIMITED,
  [ScalarType.BYTES]: DELIMITED,
};

/** Lists of numbers are packed. */
function wireType(field) {
  if (field.fieldKind === "enum") return VARINT;
  if (field.fieldKind !== "scalar") return DELIMITED;
  return SCALAR_TYPES[field.scalar] ?? VARINT;
}

/** The file's text. */
export function fieldsFile(root, header) {
  const buf = join(root, "node_modules/.bin/buf");
  const image = execFileSync(buf, ["build", join(root, "core-rs/proto"), "-o", "-#format=binpb"], { maxBuffer: 1 << 28 });
  const files = createFileRegistry(fromBinary(FileDescriptorSetSchema, image));
  const own = createRegistry(file_google_protobuf_any, file_google_protobuf_descriptor, file_google_protobuf_wrappers);
  const parts = [];
  const add = (name, about, fields) => {
    const entries = fields.map(([field, tag]) => `  ${field}: ${tag},\n`).join("");
    parts.push(`/** ${about} */\nexport const ${name} = {\n${entries}} as const;\n`);
  };
  for (const [scope, messages] of Object.entries(MESSAGES)) {
    for (const [name, wanted] of Object.entries(messages)) {
      const desc = files.getMessage(`${scope}.${name}`) ?? own.getMessage(`${scope}.${name}`);
      if (desc === undefined) throw new Error(`${scope}.${name} is not in core-rs/proto`);
      const names = wanted === "" ? desc.fields.map((field) => field.localName) : wanted.split(" ");
      const within = scope.slice(scope.lastIndexOf(".") + 1);
      const outer = scope === ENGINE ? "Engine" : /^[A-Z]/.test(within) ? `${within}_` : "";
      const fields = names.map((local) => {
        const field = desc.fields.find((each) => each.localName === local);
        if (field === undefined) throw new Error(`${desc.typeName} has no field ${local}`);
        return [local, field.number * 8 + wireType(field)];
      });
      add(outer + name, desc.typeName, fields);
    }
  }
  for (const [name, fields] of Object.entries(OTHERS)) {
    add(name, name.replace("_", "."), Object.entries(fields).map(([field, [number, type]]) => [field, number * 8 + type]));
  }
  const methods = files.getService(`${WORKFLOWSERVICE}.WorkflowService`)?.methods.flatMap(({ localName, input }) => {
    const field = input.fields.find(({ name }) => name === "namespace");
    const tag = field === undefined ? 0 : field.number * 8 + wireType(field);
    return tag === 10 ? [] : [[localName, tag]];
  });
  add("RequestNamespace", "The field `namespace` of requests by method, where it is not the first field; 0: it has none.", methods);
  const about = "// Fields of encoded messages by name, for ts/messages/wire.ts. A field is its tag: number * 8 + wire type.\n";
  return `${header}${about}${parts.join("\n")}`;
}

if (import.meta.filename === process.argv[1]) {
  const root = join(import.meta.dirname, "../..");
  writeFileSync(join(root, "ts/messages/generated/fields.ts"), fieldsFile(root, "// @generated by tools/gen_proto -- do not edit\n"));
}
