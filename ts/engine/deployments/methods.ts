// The methods that describe worker deployments, and all others by name.
import { TaskQueueType } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import {
  DescribeWorkerDeploymentRequestSchema,
  DescribeWorkerDeploymentResponseSchema,
  DescribeWorkerDeploymentVersionRequestSchema,
  DescribeWorkerDeploymentVersionResponseSchema,
  ListWorkerDeploymentsRequestSchema,
  ListWorkerDeploymentsResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../../service/raw.ts";
import { type PriorityStats, statsMessage, totalOf } from "../backlog.ts";
import { decodeMessage, encodeMessage, invalid, invalidPageToken } from "../host_bytes.ts";
import { changeMethods } from "./change_methods.ts";
import {
  type DeploymentMethodsContext,
  deploymentNotFound,
  findNamed,
  notFound,
  tokenOf,
} from "./context.ts";
import { deploymentInfo, listedDeployment, versionInfo } from "./descriptions.ts";
import { checkDeploymentName } from "./names.ts";
import { routingMethods } from "./routing_methods.ts";
import type { VersionQueue } from "./state.ts";

const MAX_PAGE = 1000;
const utf8 = new TextEncoder();
const text = new TextDecoder();

export function deploymentMethods(context: DeploymentMethodsContext) {
  const { ours } = context;
  return {
    ...routingMethods(context),
    ...changeMethods(context),
    describeWorkerDeployment(bytes: Uint8Array) {
      const request = decodeMessage(DescribeWorkerDeploymentRequestSchema, bytes);
      ours(request.namespace);
      checkDeploymentName("WorkerDeploymentName", request.deploymentName);
      const state = context.find(request.deploymentName);
      if (state === undefined) throw deploymentNotFound(request.deploymentName);
      context.refresh(state);
      return encodeMessage(DescribeWorkerDeploymentResponseSchema, {
        conflictToken: tokenOf(state),
        workerDeploymentInfo: deploymentInfo(state),
      });
    },
    describeWorkerDeploymentVersion(bytes: Uint8Array) {
      const request = decodeMessage(DescribeWorkerDeploymentVersionRequestSchema, bytes);
      ours(request.namespace);
      if (request.version === "" && request.deploymentVersion === undefined) {
        throw invalid("deployment version cannot be empty");
      }
      const given = request.version === "" ? request.deploymentVersion : undefined;
      const { deploymentName, buildId, state, version } = findNamed(
        context,
        given,
        request.version,
      );
      checkDeploymentName("WorkerDeploymentName", deploymentName);
      checkDeploymentName("BuildID", buildId);
      if (state === undefined || version === undefined) {
        throw notFound("Worker Deployment Version not found");
      }
      return encodeMessage(DescribeWorkerDeploymentVersionResponseSchema, {
        workerDeploymentVersionInfo: versionInfo(state, version),
        versionTaskQueues: version.queues.map((queue) => ({
          name: queue[0],
          type: queue[1],
          ...(request.reportTaskQueueStats &&
            queueStats(context.stats(state, version, queue), queue)),
        })),
      });
    },
    listWorkerDeployments(bytes: Uint8Array) {
      const request = decodeMessage(ListWorkerDeploymentsRequestSchema, bytes);
      ours(request.namespace);
      const size = request.pageSize <= 0 ? MAX_PAGE : Math.min(request.pageSize, MAX_PAGE);
      const after = readToken(request.nextPageToken);
      const rest = context.all().filter(({ name }) => after === undefined || name > after);
      const page = rest.slice(0, size);
      for (const state of page) context.refresh(state);
      const last = page.at(-1);
      return encodeMessage(ListWorkerDeploymentsResponseSchema, {
        workerDeployments: page.map(listedDeployment),
        nextPageToken: rest.length > size && last !== undefined
          ? utf8.encode(JSON.stringify([last.name]))
          : new Uint8Array(0),
      });
    },
  } satisfies { readonly [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}

function queueStats(stats: readonly PriorityStats[], [, type]: VersionQueue) {
  const side = type === TaskQueueType.ACTIVITY ? "activity" : "workflow";
  const rows = stats.filter((row) => row.side === side);
  return {
    stats: statsMessage(totalOf(rows, side)),
    statsByPriorityKey: Object.fromEntries(rows.map((row) => [row.priority, statsMessage(row)])),
  };
}

function readToken(token: Uint8Array): string | undefined {
  if (token.length === 0) return undefined;
  try {
    const [name] = JSON.parse(text.decode(token)) as unknown[];
    if (typeof name === "string") return name;
  } catch {
    // Not a token of this method.
  }
  throw invalidPageToken();
}
