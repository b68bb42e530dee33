// Requests of polls, written by hand: a worker's first poll must not wait until the descriptors of Temporal's API are built. Both kinds of
// request have the same fields under the same numbers. A test holds the bytes against the generated messages.
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { TaskQueueKind } from "../api/generated/temporal/api/enums/v1/task_queue_pb.ts";

/** What a PollWorkflowTaskQueueRequest or a PollActivityTaskQueueRequest says. */
export interface PollFields {
  readonly namespace: string;
  readonly identity: string;
  /** `normalName`: of a sticky queue, the one that it stands beside. */
  readonly taskQueue: { readonly name: string; readonly kind: TaskQueueKind; readonly normalName?: string };
  readonly workerInstanceKey: string;
  /** An encoded WorkerDeploymentOptions. */
  readonly deploymentOptions?: Uint8Array | undefined;
  /** Of activities: how many the service hands out, to all workers of the queue together. */
  readonly maxTasksPerSecond?: number | undefined;
}

/** The request's bytes. */
export function pollRequest(fields: PollFields): Uint8Array<ArrayBuffer> {
  const { namespace, identity, taskQueue, workerInstanceKey, deploymentOptions, maxTasksPerSecond } = fields;
  const writer = new BinaryWriter();
  const text = (field: number, value: string) => {
    if (value !== "") writer.tag(field, WireType.LengthDelimited).string(value);
  };
  text(1, namespace);
  writer.tag(2, WireType.LengthDelimited).fork();
  text(1, taskQueue.name);
  writer.tag(2, WireType.Varint).int32(taskQueue.kind);
  text(3, taskQueue.normalName ?? "");
  writer.join();
  text(3, identity);
  if (maxTasksPerSecond !== undefined) {
    // A TaskQueueMetadata with a google.protobuf.DoubleValue in it.
    writer.tag(4, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.Bit64).double(maxTasksPerSecond).join().join();
  }
  if (deploymentOptions !== undefined) writer.tag(6, WireType.LengthDelimited).bytes(deploymentOptions);
  text(8, workerInstanceKey);
  return writer.finish();
}
