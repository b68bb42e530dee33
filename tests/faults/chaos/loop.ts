// The loop: a worker whose only way to the server is a network that misbehaves, two clients (one
// behind the same network, one not) that live lives with it, and a judgement of each life. Then the
// network behaves, and everything has to come to its end.
import { delay } from "@std/async/delay";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { Client, DeadlineExceededError, silentLogger } from "../../../ts/client/mod.ts";
import { nativePrograms } from "../../../ts/executor/run/native_program.ts";
import { Code, type MethodName, type RawService, ServiceError } from "../../../ts/service/raw.ts";
import { isThrottled } from "../../../ts/service/retry.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { RespondActivityTaskCompletedRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { inlineRealm } from "../../system/interop/support/realm.ts";
import { until } from "../../support/until.ts";
import { judge } from "./oracle.ts";
import { add, finish, life, note, NOTES } from "./program.ts";
import { ChaosProxy, type Mishap, seeded } from "./proxy.ts";

/**
 * Where a dev server keeps its file, so that it can be ended and come back: in a file system in
 * memory, if there is one, because a disk would be what is tested.
 */
export function databaseFolder(): string {
  return mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "temporalex-chaos-"));
}

export interface ChaosOptions {
  /** `host:port` of a real server. */
  address: string;
  /** Concurrent runs; while the network misbehaves, each one that ends is replaced by another. */
  workflows: number;
  ms: number;
  /**
   * The network misbehaves until this returns true, also after `ms`. Default: it ends with `ms`.
   */
  isEnough?: (figures: ChaosFigures) => boolean;
  seed: number;
  /** How long the lives may take to end once the network behaves. Default: 120 s. */
  patienceMs?: number;
  /**
   * Ends the server and brings it back at its address, with what it knew. Temporal's dev server
   * needs it now and then: a call that is cancelled at the wrong moment leaves its only database
   * connection interrupted for ever, and from then on it knows no namespace.
   */
  heal: () => Promise<void>;
  /** Ends and brings it back so often anyway. Default: never. */
  restartEveryMs?: number;
  onProgress?: (figures: ChaosFigures) => void;
}

export interface ChaosFigures {
  lives: number;
  events: number;
  /** Executions of activities; more than the activities there were, because attempts get lost. */
  executions: number;
  acknowledged: number;
  /**
   * Calls that failed and were repeated by the driver, beyond what the client repeats by itself.
   */
  repeats: number;
  /** How often the server had to be brought back. */
  heals: number;
  connections: number;
  mishaps: { readonly [mishap in Mishap]: number };
  problems: string[];
}

/** A connection that is quick to doubt. */
const WATCHED = { keepAlive: { interval: "2s", timeout: "1s" }, attemptTimeout: "2s" } as const;

/** What a dev server says whose database connection is stuck. */
const STUCK = /interrupted \(9\)|[Nn]amespace "?default"? (?:is not found|does not exist)/;

/**
 * Calls that may be repeated: the caller does not know whether they were executed, and their ids
 * make them idempotent.
 */
function mayRepeat(error: unknown): boolean {
  return error instanceof DeadlineExceededError || STUCK.test((error as Error).message) ||
    (error instanceof ServiceError &&
      // (A server takes no updates of a workflow whose task got lost three times in a row, or that
      // has too much to do.)
      (error.code === Code.UNAVAILABLE || error.code === Code.DEADLINE_EXCEEDED ||
        error.reason === "WorkflowNotReady" ||
        isThrottled(error)));
}

export async function chaosLoop(options: ChaosOptions): Promise<ChaosFigures> {
  const { address, workflows, ms, seed, patienceMs = 120_000 } = options;
  const random = seeded(seed);
  const proxy = await ChaosProxy.start({ target: address, random: seeded(seed + 1) });
  const [behind, direct] = [
    new GrpcService({ address: proxy.address, ...WATCHED }),
    new GrpcService({ address }),
  ];
  const executed = new Set<string>(), acknowledged = new Set<string>();
  const figures: ChaosFigures = {
    lives: 0,
    events: 0,
    executions: 0,
    acknowledged: 0,
    repeats: 0,
    heals: 0,
    connections: 0,
    mishaps: proxy.counts,
    problems: [],
  };
  const now = () => ({
    ...figures,
    executions: executed.size,
    acknowledged: acknowledged.size,
    connections: proxy.connections,
    mishaps: { ...proxy.counts },
  });

  /** The worker's connection; what it acknowledges is noted. */
  const noted: RawService = {
    losesCancelledPolls: true,
    async call(method: MethodName, request, callOptions) {
      const answer = await behind.call(method, request, callOptions);
      if (method === "respondActivityTaskCompleted") {
        const { result } = fromBinary(RespondActivityTaskCompletedRequestSchema, request);
        acknowledged.add(JSON.parse(new TextDecoder().decode(result!.payloads[0]!.data)) as string);
      }
      return answer;
    },
  };
  const taskQueue = `chaos-${seed}`;
  const clients = [behind, direct].map((service) => new Client({ service, logger: silentLogger }));
  const newWorker = () =>
    Worker.create({
      service: noted,
      taskQueue,
      realm: "inline",
      workflows: [life],
      cachedWorkflows: 150,
      stickyScheduleToStartTimeout: "2s",
      logger: silentLogger,
      activities: {
        step: (place: string) => {
          const answer = `${place}#${executed.size}`;
          executed.add(answer);
          return Promise.resolve(answer);
        },
      },
    });
  const judges = await inlineRealm(direct, nativePrograms([life]).get);

  let stopAt = Infinity;
  const insist = async <T>(what: string, act: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await act();
      } catch (error) {
        if (!mayRepeat(error) || performance.now() > stopAt) {
          throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
        }
        figures.repeats++;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  const anyClient = () => clients[random() < 0.5 ? 0 : 1]!;

  async function live(id: string): Promise<void> {
    const start = {
      id,
      args: [id] as [string],
      taskQueue,
      taskTimeout: "2s",
      requestId: `${id}-start`,
      idConflictPolicy: "USE_EXISTING",
    } as const;
    await insist(`start of ${id}`, () => anyClient().start(life, start));
    const handle = () => anyClient().getHandle(life, id);
    const notes: number[] = [];
    const updates = new Map<string, number>();
    for (let n = 0; n < NOTES; n++) {
      await insist(
        `signal ${n} of ${id}`,
        () => handle().with({ requestId: `${id}-note-${n}` }).signal(note, n),
      );
      notes.push(n);
      if (n === NOTES - 1) break;
      const updateId = `${id}-add-${n}`;
      const settings = { updateId, args: [n + 1] as [number], timeout: "20s" };
      updates.set(
        updateId,
        await insist(`update ${n} of ${id}`, () => handle().executeUpdate(add, settings)),
      );
    }
    await insist(`end of ${id}`, () => handle().with({ requestId: `${id}-finish` }).signal(finish));
    const result = await insist(`result of ${id}`, () => handle().result());
    const own = clients[1]!.getHandle(life, id);
    const { events } = await own.fetchHistory();
    figures.lives++;
    figures.events += events.length;
    figures.problems.push(
      ...judge(id, events, { result, notes, updates }, { executed, acknowledged }),
    );
    const { verdict, error } = await judges.replay(id, await own.historyBytes());
    if (verdict !== "ok") {
      figures.problems.push(`${id}: the history does not replay: ${verdict} ${error?.message}`);
    }
  }

  const endAt = performance.now() + ms;
  let over = false;
  const ticker = setInterval(() => options.onProgress?.(now()), 10_000);
  /** Looks after the server, on the way that behaves. */
  const looking = (async () => {
    const namespace = new TextEncoder().encode("\n\u0007default");
    for (let stuck = 0, since = performance.now(); !over;) {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const due = performance.now() - since > (options.restartEveryMs ?? Infinity) &&
        performance.now() < endAt;
      const said = await direct.call("describeNamespace", namespace, { timeoutMs: 10_000 }).then(
        () => "",
        (e: Error) => e.message,
      );
      stuck = STUCK.test(said) ? stuck + 1 : 0;
      if ((stuck < 2 && !due) || over) continue;
      stuck = 0;
      since = performance.now();
      figures.heals++;
      await options.heal();
    }
  })();
  let worker = await newWorker();
  /** As a supervisor would: a server that refuses its namespace ends its workers. */
  const working = (async () => {
    for (;;) {
      try {
        return await worker.run();
      } catch (error) {
        if (!STUCK.test((error as Error).message) || over) {
          figures.problems.push(`the worker ended: ${(error as Error).message}`);
          return;
        }
        worker = await newWorker();
      }
    }
  })();
  try {
    const lives = Array.from({ length: workflows }, async (_, i) => {
      for (let n = 0; n === 0 || performance.now() < endAt; n++) {
        await live(`life-${seed}-${i}-${n}`).catch((error: Error) =>
          figures.problems.push(error.message)
        );
      }
    });
    proxy.begin();
    await delay(ms);
    const { isEnough = () => true } = options;
    await until("the network has misbehaved enough", () => isEnough(now()), {
      everyMs: 100,
      about: () => JSON.stringify(now()),
    });
    proxy.calm();
    stopAt = performance.now() + patienceMs;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => timer = setTimeout(resolve, patienceMs));
    const all = Promise.all(lives).then(() => true);
    if (await Promise.race([all, late]) !== true) {
      const open = await clients[1]!.count(
        `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`,
      );
      figures.problems.push(
        `${open} workflows did not end within ${patienceMs} ms of a network that behaves`,
      );
    }
    clearTimeout(timer);
  } finally {
    clearInterval(ticker);
    proxy.calm();
    over = true;
    await looking;
    await worker.shutdown();
    await working;
    await judges.dispose();
    behind.close();
    direct.close();
    await proxy.stop();
  }
  return now();
}
