// Files of Temporal's API with messages. Descriptors are built on first use.
import type { DescFile } from "@bufbuild/protobuf";
import { file_temporal_api_activity_v1_message } from "../../messages/generated/temporal/api/activity/v1/message_pb.ts";
import { file_temporal_api_command_v1_message } from "../../messages/generated/temporal/api/command/v1/message_pb.ts";
import { file_temporal_api_common_v1_message } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { file_temporal_api_deployment_v1_message } from "../../messages/generated/temporal/api/deployment/v1/message_pb.ts";
import { file_temporal_api_enums_v1_command_type } from "../../messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { file_temporal_api_enums_v1_common } from "../../messages/generated/temporal/api/enums/v1/common_pb.ts";
import { file_temporal_api_enums_v1_deployment } from "../../messages/generated/temporal/api/enums/v1/deployment_pb.ts";
import { file_temporal_api_enums_v1_event_type } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { file_temporal_api_enums_v1_failed_cause } from "../../messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import { file_temporal_api_enums_v1_namespace } from "../../messages/generated/temporal/api/enums/v1/namespace_pb.ts";
import { file_temporal_api_enums_v1_nexus } from "../../messages/generated/temporal/api/enums/v1/nexus_pb.ts";
import { file_temporal_api_enums_v1_query } from "../../messages/generated/temporal/api/enums/v1/query_pb.ts";
import { file_temporal_api_enums_v1_reset } from "../../messages/generated/temporal/api/enums/v1/reset_pb.ts";
import { file_temporal_api_enums_v1_schedule } from "../../messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import { file_temporal_api_enums_v1_task_queue } from "../../messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import { file_temporal_api_enums_v1_update } from "../../messages/generated/temporal/api/enums/v1/update_pb.ts";
import { file_temporal_api_enums_v1_workflow } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { file_temporal_api_failure_v1_message } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { file_temporal_api_history_v1_message } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { file_temporal_api_namespace_v1_message } from "../../messages/generated/temporal/api/namespace/v1/message_pb.ts";
import { file_temporal_api_protocol_v1_message } from "../../messages/generated/temporal/api/protocol/v1/message_pb.ts";
import { file_temporal_api_query_v1_message } from "../../messages/generated/temporal/api/query/v1/message_pb.ts";
import { file_temporal_api_replication_v1_message } from "../../messages/generated/temporal/api/replication/v1/message_pb.ts";
import { file_temporal_api_schedule_v1_message } from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import { file_temporal_api_sdk_v1_event_group_marker } from "../../messages/generated/temporal/api/sdk/v1/event_group_marker_pb.ts";
import { file_temporal_api_sdk_v1_task_complete_metadata } from "../../messages/generated/temporal/api/sdk/v1/task_complete_metadata_pb.ts";
import { file_temporal_api_sdk_v1_user_metadata } from "../../messages/generated/temporal/api/sdk/v1/user_metadata_pb.ts";
import { file_temporal_api_taskqueue_v1_message } from "../../messages/generated/temporal/api/taskqueue/v1/message_pb.ts";
import { file_temporal_api_update_v1_message } from "../../messages/generated/temporal/api/update/v1/message_pb.ts";
import { file_temporal_api_version_v1_message } from "../../messages/generated/temporal/api/version/v1/message_pb.ts";
import { file_temporal_api_worker_v1_message } from "../../messages/generated/temporal/api/worker/v1/message_pb.ts";
import { file_temporal_api_workflow_v1_message } from "../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import { file_temporal_api_workflowservice_v1_request_response } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { file_temporal_api_workflowservice_v1_service } from "../../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import {
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
} from "../../messages/well_known.ts";

/** By the packages that their types are in. */
export const FILES: readonly DescFile[] = [
  file_google_protobuf_any,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
  file_temporal_api_activity_v1_message,
  file_temporal_api_command_v1_message,
  file_temporal_api_common_v1_message,
  file_temporal_api_deployment_v1_message,
  file_temporal_api_enums_v1_command_type,
  file_temporal_api_enums_v1_common,
  file_temporal_api_enums_v1_deployment,
  file_temporal_api_enums_v1_event_type,
  file_temporal_api_enums_v1_failed_cause,
  file_temporal_api_enums_v1_namespace,
  file_temporal_api_enums_v1_nexus,
  file_temporal_api_enums_v1_query,
  file_temporal_api_enums_v1_reset,
  file_temporal_api_enums_v1_schedule,
  file_temporal_api_enums_v1_task_queue,
  file_temporal_api_enums_v1_update,
  file_temporal_api_enums_v1_workflow,
  file_temporal_api_failure_v1_message,
  file_temporal_api_history_v1_message,
  file_temporal_api_namespace_v1_message,
  file_temporal_api_protocol_v1_message,
  file_temporal_api_query_v1_message,
  file_temporal_api_replication_v1_message,
  file_temporal_api_schedule_v1_message,
  file_temporal_api_sdk_v1_event_group_marker,
  file_temporal_api_sdk_v1_task_complete_metadata,
  file_temporal_api_sdk_v1_user_metadata,
  file_temporal_api_taskqueue_v1_message,
  file_temporal_api_update_v1_message,
  file_temporal_api_version_v1_message,
  file_temporal_api_worker_v1_message,
  file_temporal_api_workflow_v1_message,
  file_temporal_api_workflowservice_v1_request_response,
  file_temporal_api_workflowservice_v1_service,
];
