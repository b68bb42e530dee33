// The methods that delete deployments and versions, and change their metadata and manager.
import { toBinary } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { PayloadSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  DeleteWorkerDeploymentRequestSchema,
  DeleteWorkerDeploymentResponseSchema,
  DeleteWorkerDeploymentVersionRequestSchema,
  DeleteWorkerDeploymentVersionResponseSchema,
  SetWorkerDeploymentManagerRequestSchema,
  SetWorkerDeploymentManagerResponseSchema,
  UpdateWorkerDeploymentVersionMetadataRequestSchema,
  UpdateWorkerDeploymentVersionMetadataResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "../host_bytes.ts";
import {
  checkToken,
  type DeploymentMethodsContext,
  deploymentNotFound,
  failedPrecondition,
  findNamed,
  noteChange,
  notFound,
  tokenOf,
  wrongManager,
} from "./context.ts";
import { metadataMessage } from "./descriptions.ts";
import { checkDeploymentName } from "./names.ts";

export function changeMethods(context: DeploymentMethodsContext) {
  const { ours } = context;
  return {
    deleteWorkerDeployment(bytes: Uint8Array) {
      const request = decodeMessage(DeleteWorkerDeploymentRequestSchema, bytes);
      ours(request.namespace);
      checkDeploymentName("WorkerDeploymentName", request.deploymentName);
      const state = context.find(request.deploymentName);
      if (state !== undefined) {
        if (state.versions.length > 0) {
          throw new ServiceError(
            Code.INTERNAL,
            "deployment has versions, can't be deleted",
            "Internal",
          );
        }
        context.remove(state);
      }
      return encodeMessage(DeleteWorkerDeploymentResponseSchema, {});
    },
    deleteWorkerDeploymentVersion(bytes: Uint8Array) {
      const request = decodeMessage(DeleteWorkerDeploymentVersionRequestSchema, bytes);
      ours(request.namespace);
      const { deploymentName, buildId, state, version } = findNamed(
        context,
        request.deploymentVersion,
        request.version,
      );
      checkDeploymentName("WorkerDeploymentName", deploymentName);
      if (state === undefined) throw deploymentNotFound(deploymentName);
      if (version !== undefined) {
        const wrong = (why: string) =>
          failedPrecondition(
            `version '${deploymentName}:${buildId}' cannot be deleted since it ${why}`,
          );
        const { current, ramping } = state.routing;
        if (current === buildId || ramping === buildId) throw wrong("is current or ramping");
        if (state.manager !== "" && state.manager !== request.identity) {
          throw wrongManager(state, request.identity);
        }
        if (!request.skipDrainage && version.status === "draining") throw wrong("is draining");
        if (context.hasPollers(state, version)) throw wrong("has active pollers");
        context.removeVersion(state, version);
        noteChange(context, state, request.identity);
      }
      return encodeMessage(DeleteWorkerDeploymentVersionResponseSchema, {});
    },
    updateWorkerDeploymentVersionMetadata(bytes: Uint8Array) {
      const request = decodeMessage(UpdateWorkerDeploymentVersionMetadataRequestSchema, bytes);
      ours(request.namespace);
      const upserts = Object.entries(request.upsertEntries);
      if (upserts.length === 0 && request.removeEntries.length === 0) {
        throw invalid("At least one of remove_entries or upsert_entries must be provided");
      }
      const { deploymentName, buildId, state, version } = findNamed(
        context,
        request.deploymentVersion,
        request.version,
      );
      if (state === undefined || version === undefined) {
        throw notFound(`build ID '${buildId}' not found in Worker Deployment '${deploymentName}'`);
      }
      const metadata = new Map(version.metadata);
      for (const [key, payload] of upserts) {
        metadata.set(key, base64Encode(toBinary(PayloadSchema, payload)));
      }
      for (const key of request.removeEntries) metadata.delete(key);
      if (version.metadata !== null || upserts.length > 0) version.metadata = [...metadata];
      version.identity = request.identity;
      context.changed(state);
      return encodeMessage(UpdateWorkerDeploymentVersionMetadataResponseSchema, {
        ...(version.metadata !== null && { metadata: metadataMessage(version.metadata) }),
      });
    },
    setWorkerDeploymentManager(bytes: Uint8Array) {
      const request = decodeMessage(SetWorkerDeploymentManagerRequestSchema, bytes);
      const { identity, deploymentName: name, newManagerIdentity: given } = request;
      if (identity === "") throw invalid("Identity is required");
      ours(request.namespace);
      checkDeploymentName("WorkerDeploymentName", name);
      const manager = given.case === "self" ? (given.value ? identity : "") : given.value ?? "";
      const state = context.find(name);
      if (state === undefined) throw deploymentNotFound(name);
      const isSame = state.manager === manager && state.identity === identity;
      const previousManagerIdentity = state.manager;
      if (!isSame) {
        checkToken(state, request.conflictToken);
        state.manager = manager;
        noteChange(context, state, identity);
      }
      return encodeMessage(SetWorkerDeploymentManagerResponseSchema, {
        conflictToken: tokenOf(state),
        previousManagerIdentity,
      });
    },
  };
}
