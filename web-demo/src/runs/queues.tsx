// Task queues with their pollers: workers, kinds of tasks, last poll, versions, backlog.
import { type Signal, useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import {
  TaskQueueKind,
  TaskQueueType,
} from "../../../ts/messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { DescribeTaskQueueResponse } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { timestampDate } from "../../../ts/messages/well_known.ts";
import { POLLED_QUEUES } from "../../../ts/service/raw.ts";
import { count, date, lasting } from "../ui/time.ts";
import { callsOfService } from "./service.ts";
import { client, namespace, nowMs } from "./state.ts";

const AGAIN_MS = 3000;
const CALL = { timeoutMs: 10_000 };
/** Runs that are read to find the names of queues. */
const RUNS_FOR_NAMES = 1000;

interface Worker {
  readonly identity: string;
  readonly kinds: readonly ("workflow tasks" | "activities")[];
  readonly lastPollMs: number | undefined;
  /** Build id, with the deployment if the worker has one. */
  readonly version: string;
}

interface Queue {
  readonly name: string;
  readonly workers: readonly Worker[];
  /** Tasks that wait; undefined if the service does not report it. */
  readonly backlog: number | undefined;
}

const emptyWorker = { kinds: [], lastPollMs: undefined, version: "" };

function workersOf(
  descriptions: readonly (readonly ["workflow tasks" | "activities", DescribeTaskQueueResponse])[],
): Worker[] {
  const workers = new Map<string, Worker>();
  for (const [kind, { pollers }] of descriptions) {
    for (const poller of pollers) {
      const before = workers.get(poller.identity) ?? { ...emptyWorker, identity: poller.identity };
      const polledMs = poller.lastAccessTime === undefined
        ? undefined
        : timestampDate(poller.lastAccessTime).getTime();
      const deployment = poller.deploymentOptions;
      const build = deployment?.buildId || poller.workerVersionCapabilities?.buildId || "";
      workers.set(poller.identity, {
        ...before,
        kinds: [...new Set([...before.kinds, kind])],
        lastPollMs: Math.max(before.lastPollMs ?? 0, polledMs ?? 0) || undefined,
        version: before.version ||
          (deployment?.deploymentName ? `${deployment.deploymentName} ${build}` : build),
      });
    }
  }
  return [...workers.values()].sort((a, b) => a.identity < b.identity ? -1 : 1);
}

async function describeQueue(
  name: string,
): Promise<Queue & { readonly polled: readonly string[] }> {
  const ask = (taskQueueType: TaskQueueType) =>
    callsOfService.describeTaskQueue({
      namespace,
      taskQueue: { name, kind: TaskQueueKind.NORMAL },
      taskQueueType,
      reportStats: true,
    }, CALL);
  const [tasks, activities] = await Promise.all([
    ask(TaskQueueType.WORKFLOW),
    ask(TaskQueueType.ACTIVITY),
  ]);
  const waiting = [tasks, activities].flatMap(({ stats }) =>
    stats === undefined ? [] : [Number(stats.approximateBacklogCount)]
  );
  return {
    name,
    workers: workersOf([["workflow tasks", tasks], ["activities", activities]]),
    polled: polledQueues(tasks),
    backlog: waiting.length === 0 ? undefined : waiting.reduce((sum, n) => sum + n, 0),
  };
}

/** Queues of the latest runs, and on an embedded engine those that are polled. */
async function queueNames(added: readonly string[]): Promise<readonly string[]> {
  const names = new Set(added);
  let read = 0;
  for await (const { taskQueue } of client!.list("", { pageSize: RUNS_FOR_NAMES })) {
    if (taskQueue !== "") names.add(taskQueue);
    if (++read === RUNS_FOR_NAMES) break;
  }
  return [...names].sort();
}

/** Queues whose workflow tasks are polled: an embedded engine adds them to a description. */
function polledQueues({ $unknown = [] }: DescribeTaskQueueResponse): readonly string[] {
  const field = $unknown.find(({ no }) => no === POLLED_QUEUES);
  if (field === undefined) return [];
  try {
    return JSON.parse(new BinaryReader(field.data).string()) as string[];
  } catch {
    return [];
  }
}

interface Found {
  readonly queues: readonly Queue[];
  readonly trouble: string | undefined;
}

/** Queues of the view; requested again at intervals. `added`: names that the user typed. */
function useQueues(added: Signal<readonly string[]>): Signal<Found | undefined> {
  const found = useSignal<Found | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      const names = new Set(await queueNames(added.peek()));
      const queues: Queue[] = [];
      // The loop also visits names that it adds.
      for (const name of names) {
        const { polled, ...queue } = await describeQueue(name);
        for (const other of polled) names.add(other);
        queues.push(queue);
      }
      queues.sort((a, b) => a.name < b.name ? -1 : 1);
      if (!isOver) found.value = { queues, trouble: undefined };
    };
    const again = async () => {
      if (document.visibilityState === "visible") {
        await read().catch((error: Error) => {
          if (!isOver) found.value = { queues: found.peek()?.queues ?? [], trouble: error.message };
        });
      }
      if (!isOver) timer = setTimeout(() => void again(), AGAIN_MS);
    };
    void again();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [added.value]);
  return found;
}

export function Queues(): JSX.Element {
  const added = useSignal<readonly string[]>([]);
  const typed = useSignal("");
  const found = useQueues(added).value;
  const add = (event: Event) => {
    event.preventDefault();
    const name = typed.value.trim();
    if (name !== "" && !added.value.includes(name)) added.value = [...added.value, name];
    typed.value = "";
  };
  return (
    <div class="queues-view">
      <form class="runs-filter" onSubmit={add}>
        <input
          class="mono"
          aria-label="Name of a task queue"
          placeholder="Name of another task queue"
          spellcheck={false}
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={typed.value.trim() === ""}>
          Show queue
        </button>
      </form>
      {found?.trouble !== undefined && (
        <p class="section bad" role="alert">The task queues are unknown: {found.trouble}</p>
      )}
      {found === undefined && <p class="section soft">Loading the task queues…</p>}
      {found !== undefined && found.queues.length === 0 && found.trouble === undefined && (
        <p class="section say">No run names a task queue, and no worker polls one.</p>
      )}
      {found?.queues.map((queue) => <QueueSection key={queue.name} queue={queue} />)}
    </div>
  );
}

function QueueSection({ queue: { name, workers, backlog } }: { queue: Queue }): JSX.Element {
  return (
    <section class="section queue" aria-label={`Task queue ${name}`}>
      <h2>
        <span class="mono">{name}</span>
        <span class="soft">
          {` ${count(workers.length)} ${workers.length === 1 ? "worker" : "workers"}`}
          {backlog === undefined ? "" : `, ${count(backlog)} waiting tasks`}
        </span>
      </h2>
      {workers.length === 0
        ? <p class="say">No worker polls this queue. Its tasks wait.</p>
        : (
          <div class="wide-table" tabIndex={0} role="group" aria-label={`Workers of ${name}`}>
            <table class="plain-table">
              <thead>
                <tr>
                  <th scope="col">Worker</th>
                  <th scope="col">Polls for</th>
                  <th scope="col">Last poll</th>
                  <th scope="col">Build</th>
                </tr>
              </thead>
              <tbody>
                {workers.map(({ identity, kinds, lastPollMs, version }) => (
                  <tr key={identity}>
                    <td class="mono">{identity}</td>
                    <td>{kinds.join(", ")}</td>
                    <td title={lastPollMs === undefined ? undefined : date(lastPollMs)}>
                      {lastPollMs === undefined
                        ? "unknown"
                        : `${lasting(Math.max(0, nowMs.value - lastPollMs))} ago`}
                    </td>
                    <td class="mono">{version === "" ? "none" : version}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
    </section>
  );
}
