// Pending activities of a run: attempts, last failure, heartbeat; pause, unpause and reset on
// services that have them.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { PendingActivity } from "temporalex/client";
import { timestampDate } from "../../../ts/messages/well_known.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { lineOfValue } from "../../../ts/run_view/value_text.ts";
import { Glyph } from "../ui/glyph.tsx";
import { date, lasting } from "../ui/time.ts";
import { described, describeRun } from "./described.ts";
import { callsOfService } from "./service.ts";
import { isReadOnly, isServerGone, namespace, nowMs } from "./state.ts";
import type { Watched } from "./watched_run.ts";

const CALL = { timeoutMs: 10_000 };
const IDENTITY = "temporalex ui";

type Operation = "Pause" | "Unpause" | "Reset";

async function operate(run: Watched, activityId: string, operation: Operation): Promise<void> {
  const request = {
    namespace,
    execution: { workflowId: run.workflowId, runId: run.runId },
    identity: IDENTITY,
    activity: { case: "id", value: activityId } as const,
  };
  try {
    if (operation === "Pause") {
      await callsOfService.pauseActivity(
        { ...request, reason: IDENTITY, requestId: crypto.randomUUID() },
        CALL,
      );
    } else if (operation === "Unpause") await callsOfService.unpauseActivity(request, CALL);
    else await callsOfService.resetActivity({ ...request, resetHeartbeat: true }, CALL);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== Code.UNIMPLEMENTED) throw error;
    throw new Error(`This service cannot ${operation.toLowerCase()} an activity. ${error.message}`);
  }
  await describeRun(run);
}

export function Activities({ run }: { run: Watched }): JSX.Element | null {
  const list = described.value?.runId === run.runId ? described.value.pendingActivities : [];
  if (list.length === 0) return null;
  const raw = described.value!.rawDescription.pendingActivities;
  return (
    <section class="section activities" aria-label="Pending activities">
      <h3>
        Pending activities <span>{list.length}</span>
      </h3>
      <ul>
        {list.slice(0, MOST).map((activity) => {
          const own = raw.find(({ activityId }) => activityId === activity.activityId);
          return (
            <Activity
              key={activity.activityId}
              run={run}
              activity={activity}
              isPaused={own?.paused === true}
              nextMs={own?.nextAttemptScheduleTime === undefined
                ? undefined
                : timestampDate(own.nextAttemptScheduleTime).getTime()}
            />
          );
        })}
      </ul>
      {list.length > MOST && <p class="soft">and {list.length - MOST} more</p>}
    </section>
  );
}

const MOST = 20;

interface Props {
  readonly run: Watched;
  readonly activity: PendingActivity;
  readonly isPaused: boolean;
  /** Time of the next attempt. */
  readonly nextMs: number | undefined;
}

function Activity({ run, activity, isPaused, nextMs }: Props): JSX.Element {
  const trouble = useSignal<string | undefined>(undefined);
  const act = (operation: Operation) =>
    void operate(run, activity.activityId, operation).then(
      () => (trouble.value = undefined),
      (error: Error) => (trouble.value = error.message),
    );
  const operations: readonly Operation[] = [isPaused ? "Unpause" : "Pause", "Reset"];
  return (
    <li>
      <p class="activity-head">
        <Glyph kind="activity" /> <b>{activity.activityType}</b>{" "}
        <span class="soft">{stateText(activity, isPaused, nextMs, nowMs.value)}</span>
      </p>
      <dl class="facts">
        <dt>Attempt</dt>
        <dd>{attemptText(activity)}</dd>
        {activity.lastHeartbeatTime !== undefined && (
          <>
            <dt>Heartbeat</dt>
            <dd title={date(activity.lastHeartbeatTime.getTime())}>
              {`${lasting(Math.max(0, nowMs.value - activity.lastHeartbeatTime.getTime()))} ago`}
            </dd>
          </>
        )}
        {activity.heartbeatDetails !== undefined && (
          <>
            <dt>Details</dt>
            <dd class="mono cut" title={lineOfValue(activity.heartbeatDetails, 2000)}>
              {lineOfValue(activity.heartbeatDetails, 120)}
            </dd>
          </>
        )}
        {activity.lastFailure !== undefined && (
          <>
            <dt>Last failure</dt>
            <dd class="bad wrap">{activity.lastFailure.message}</dd>
          </>
        )}
        {activity.lastWorkerIdentity !== "" && (
          <>
            <dt>Worker</dt>
            <dd class="mono cut" title={activity.lastWorkerIdentity}>
              {activity.lastWorkerIdentity}
            </dd>
          </>
        )}
      </dl>
      {!isReadOnly && (
        <p class="activity-buttons">
          {operations.map((operation) => (
            <button
              type="button"
              key={operation}
              class="button small"
              disabled={isServerGone.value}
              aria-label={`${operation} ${activity.activityType}`}
              onClick={() => act(operation)}
            >
              {operation}
            </button>
          ))}
        </p>
      )}
      {trouble.value !== undefined && <p class="bad wrap" role="alert">{trouble.value}</p>}
    </li>
  );
}

const attemptText = ({ attempt, maximumAttempts }: PendingActivity): string =>
  maximumAttempts === 0 ? `${attempt}, no limit` : `${attempt} of ${maximumAttempts}`;

function stateText(
  { state, lastStartedTime, scheduledTime }: PendingActivity,
  isPaused: boolean,
  nextMs: number | undefined,
  now: number,
): string {
  const since = (time: Date | undefined) =>
    time === undefined ? "" : `, for ${lasting(Math.max(0, now - time.getTime()))}`;
  if (isPaused) return "paused";
  if (state === "STARTED") return `running${since(lastStartedTime)}`;
  if (state === "CANCEL_REQUESTED") return "cancel requested";
  if (nextMs !== undefined && nextMs > now) return `next attempt in ${lasting(nextMs - now)}`;
  return `waits for a worker${since(scheduledTime)}`;
}
