// The children of a branch. Each is a run of the branch's engine without code, which ends with the
// branch's result at its time.
import { create } from "@bufbuild/protobuf";
import { CommandType } from "../messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import {
  type Command,
  CommandSchema,
} from "../messages/generated/temporal/api/command/v1/message_pb.ts";
import { FailureSchema } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { PollWorkflowTaskQueueResponse } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { Agenda } from "./agenda.ts";
import type { Answer } from "./answers.ts";
import { IDENTITY, type World } from "./world.ts";

interface Child {
  readonly answer: Answer;
  due: boolean;
}

export class Children {
  readonly #world: World;
  readonly #agenda: Agenda;
  readonly #children = new Map<string, Child>();

  constructor(world: World, agenda: Agenda) {
    this.#world = world;
    this.#agenda = agenda;
  }

  /** Registers a child that the code starts, or that the prefix started. */
  know(workflowId: string, answer: Answer, startMs: number): void {
    const child: Child = { answer, due: false };
    this.#children.set(workflowId, child);
    const world = this.#world;
    const { end, afterMs } = answer;
    if (end.kind === "never" || end.kind === "timed out" || !Number.isFinite(afterMs)) return;
    this.#agenda.at(Math.max(world.nowMs, startMs + afterMs), async () => {
      const execution = { workflowId };
      if (end.kind === "terminated") {
        await world.service.terminateWorkflowExecution({
          ...{ namespace: world.namespace, workflowExecution: execution, identity: IDENTITY },
        }).catch(() => undefined);
        return;
      }
      // A run ends in a workflow task: the signal schedules one.
      child.due = true;
      await world.service.signalWorkflowExecution({
        ...{ namespace: world.namespace, workflowExecution: execution, identity: IDENTITY },
        ...{ signalName: "what-if: end", requestId: crypto.randomUUID() },
      }).catch(() => undefined);
    });
  }

  /** Handles a workflow task of another run than the branch's own. */
  async work(task: PollWorkflowTaskQueueResponse): Promise<void> {
    const child = this.#children.get(task.workflowExecution?.workflowId ?? "");
    const commands = child?.due === true ? [ending(child.answer)] : [];
    // The result is that of one run: the next one by a cron schedule stays open.
    if (child !== undefined && hasCron(task)) child.due = false;
    const { namespace } = this.#world;
    await this.#world.service.respondWorkflowTaskCompleted({
      ...{ namespace, taskToken: task.taskToken, identity: IDENTITY, commands },
    }).catch(() => undefined);
  }
}

function hasCron({ history }: PollWorkflowTaskQueueResponse): boolean {
  const start = history?.events[0]?.attributes;
  return start?.case === "workflowExecutionStartedEventAttributes" &&
    start.value.cronSchedule !== "";
}

function ending({ end }: Answer): Command {
  switch (end.kind) {
    case "failed": {
      const failure = end.failure ?? create(FailureSchema, { message: "child failed" });
      return create(CommandSchema, {
        commandType: CommandType.FAIL_WORKFLOW_EXECUTION,
        attributes: { case: "failWorkflowExecutionCommandAttributes", value: { failure } },
      });
    }
    case "cancelled":
      return create(CommandSchema, {
        commandType: CommandType.CANCEL_WORKFLOW_EXECUTION,
        attributes: {
          case: "cancelWorkflowExecutionCommandAttributes",
          value: end.details === undefined ? {} : { details: end.details },
        },
      });
    default:
      return create(CommandSchema, {
        commandType: CommandType.COMPLETE_WORKFLOW_EXECUTION,
        attributes: {
          case: "completeWorkflowExecutionCommandAttributes",
          value: end.kind === "completed" && end.result !== undefined ? { result: end.result } : {},
        },
      });
  }
}
