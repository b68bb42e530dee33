// The fields of queries over standalone activities. Conditions have the fields of runs: an activity
// is tested as a run whose workflow id is the activity id.
import { ActivityExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/activity_pb.ts";
import { statusesOf } from "./values.ts";
import type { QueryFields } from "./parse.ts";

export const ACTIVITY_FIELDS: QueryFields = {
  what: "activities",
  fields: {
    ActivityId: "WorkflowId",
    ActivityType: "WorkflowType",
    RunId: "RunId",
    TaskQueue: "TaskQueue",
    ExecutionStatus: "ExecutionStatus",
    StartTime: "StartTime",
    CloseTime: "CloseTime",
    ExecutionTime: "ExecutionTime",
    ExecutionDuration: "ExecutionDuration",
  },
  statuses: statusesOf(ActivityExecutionStatus),
};
