// Poll requests, encoded without descriptors: the first poll must not wait until those are built.
// Nexus polls use other field numbers. A test compares the bytes with the generated messages.
import {
  DoubleValue,
  PollActivityTaskQueueRequest as Poll,
  TaskQueue,
  TaskQueueMetadata,
} from "../../messages/generated/fields.ts";
import { Message } from "../../messages/wire.ts";
import type { TaskQueueKind } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";

/** Fields of a PollWorkflowTaskQueueRequest or PollActivityTaskQueueRequest. */
export interface PollFields {
  readonly namespace: string;
  readonly identity: string;
  /** `normalName`: the normal queue of a sticky queue. */
  readonly taskQueue: {
    readonly name: string;
    readonly kind: TaskQueueKind;
    readonly normalName?: string;
  };
  readonly workerInstanceKey: string;
  /** An encoded WorkerDeploymentOptions. */
  readonly deploymentOptions?: Uint8Array | undefined;
  /** An encoded WorkerVersionCapabilities. */
  readonly versionCapabilities?: Uint8Array | undefined;
  /** Maximum activities per second of all workers of the queue. */
  readonly maxTasksPerSecond?: number | undefined;
}

/** Field numbers of a request. */
type PollNumbers = { readonly [name in keyof Omit<typeof Poll, "taskQueueMetadata">]: number };

/** Encodes the request. `numbers`: field numbers of its kind. */
export function pollRequest(
  fields: PollFields,
  numbers: PollNumbers = Poll,
): Uint8Array<ArrayBuffer> {
  const {
    namespace,
    identity,
    taskQueue,
    workerInstanceKey,
    deploymentOptions,
    versionCapabilities,
    maxTasksPerSecond,
  } = fields;
  const text = (message: Message, field: number, value: string) =>
    value === "" ? message : message.text(field, value);
  const request = text(new Message(), numbers.namespace, namespace).message(
    numbers.taskQueue,
    (queue) => {
      text(queue, TaskQueue.name, taskQueue.name).int(TaskQueue.kind, taskQueue.kind);
      text(queue, TaskQueue.normalName, taskQueue.normalName ?? "");
    },
  );
  text(request, numbers.identity, identity);
  if (maxTasksPerSecond !== undefined) {
    request.message(
      Poll.taskQueueMetadata,
      (metadata) =>
        metadata.message(
          TaskQueueMetadata.maxTasksPerSecond,
          (limit) => limit.double(DoubleValue.value, maxTasksPerSecond),
        ),
    );
  }
  if (versionCapabilities !== undefined) {
    request.bytes(numbers.workerVersionCapabilities, versionCapabilities);
  }
  if (deploymentOptions !== undefined) request.bytes(numbers.deploymentOptions, deploymentOptions);
  return text(request, numbers.workerInstanceKey, workerInstanceKey).finish();
}
