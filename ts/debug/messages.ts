// The messages of a run up to a position, with the state of each.
import { CommandKind } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeCommand } from "./commands.ts";
import type { SessionData } from "./session_data.ts";
import { countWhile, OpenSpans, valueAt } from "./spans.ts";
import { readPayloads, type ShownFailure } from "./values.ts";

/** A message to the workflow, with its state at a position. */
export interface MessageView {
  readonly kind: "signal" | "update" | "cancelRequest";
  /** Name of the signal or update. */
  readonly name: string;
  /** Its decoded arguments. */
  readonly arguments: readonly unknown[];
  /** The event of its arrival; for updates, of their acceptance. */
  readonly eventId: number;
  readonly updateId?: string;
  /**
   * `arrived`: the code receives it in its next task. `waiting`: no code has taken it yet. `taken`:
   * a handler or a wait took it. Updates are accepted, and then completed or failed.
   */
  readonly state: "arrived" | "waiting" | "taken" | "accepted" | "completed" | "failed";
  /** For an update: its result. */
  readonly result?: unknown;
  /** For an update: why it was rejected or failed. */
  readonly failure?: ShownFailure;
}

/** A message of the whole run, with the activations that changed its state. */
interface Told {
  readonly message: MessageView;
  readonly task: number;
  /** Responses to an update, in order. */
  readonly outcomes:
    (Pick<MessageView, "state" | "result" | "failure"> & { readonly task: number })[];
}

/** All messages, so that a position costs only its open messages and a copy of references. */
interface AllTold {
  readonly delivered: readonly Told[];
  /** Each in its final state. */
  readonly final: readonly MessageView[];
  /** From arrival to the last response. */
  readonly open: OpenSpans;
  /** Index of the first message of an event. */
  readonly ofEvent: ReadonlyMap<number, number>;
}

const all = new WeakMap<SessionData, AllTold>();

/** `at`: index of the last executed activation. */
export function messagesAt(data: SessionData, at: number, position: number): MessageView[] {
  let known = all.get(data);
  if (known === undefined) all.set(data, known = inOrder(collect(data)));
  const { delivered, final, open, ofEvent } = known;
  const { trace, activations } = data;
  const count = countWhile(delivered.length, (i) => delivered[i]!.task <= at);
  const arrived = arrivedSince(
    data,
    activations[at]?.startedEventId ?? 0,
    position,
    (id) => (ofEvent.get(id) ?? count) >= count,
  );
  // Allocated with room for arrived messages: appending would copy the array again.
  const messages = final.slice(0, count + arrived.length);
  for (const i of open.at(at)) messages[i] = viewMessage(delivered[i]!, at);
  // Signals of a name are taken in order, so the newest ones still wait.
  for (const [name, waiting] of Object.entries(valueAt(trace.buffered, at)?.value ?? {})) {
    let left = waiting;
    for (let i = count - 1; i >= 0 && left > 0; i--) {
      const message = messages[i]!;
      if (message.kind !== "signal" || message.name !== name) continue;
      messages[i] = { ...message, state: "waiting" };
      left--;
    }
  }
  arrived.forEach((message, i) => messages[count + i] = message);
  return messages;
}

/** Returns messages of later events, up to a position, that no task has passed to the code. */
function arrivedSince(
  { events, converter }: SessionData,
  from: number,
  position: number,
  isUntold: (eventId: number) => boolean,
): MessageView[] {
  const messages: MessageView[] = [];
  for (const { attributes, eventId } of events.slice(from, position)) {
    if (!isUntold(Number(eventId))) continue;
    const arrived = { eventId: Number(eventId), state: "arrived" as const };
    if (attributes.case === "workflowExecutionSignaledEventAttributes") {
      const { signalName: name, input } = attributes.value;
      messages.push({
        kind: "signal",
        name,
        arguments: readPayloads(input?.payloads, converter),
        ...arrived,
      });
    } else if (attributes.case === "workflowExecutionCancelRequestedEventAttributes") {
      messages.push({ kind: "cancelRequest", name: "cancel", arguments: [], ...arrived });
    }
  }
  return messages;
}

/** Returns a message with its last response up to an activation. */
function viewMessage({ message, outcomes }: Told, at: number): MessageView {
  const last = outcomes[countWhile(outcomes.length, (i) => outcomes[i]!.task <= at) - 1];
  if (last === undefined) return message;
  const { task: _, ...answer } = last;
  return { ...message, ...answer };
}

function inOrder(delivered: readonly Told[]): AllTold {
  const ofEvent = new Map<number, number>();
  delivered.forEach(({ message: { eventId } }, i) =>
    ofEvent.has(eventId) || ofEvent.set(eventId, i)
  );
  return {
    delivered,
    final: delivered.map((one) => viewMessage(one, Infinity)),
    open: new OpenSpans(
      delivered.length,
      (i) => delivered[i]!.task,
      (i) => delivered[i]!.outcomes.at(-1)?.task ?? -1,
    ),
    ofEvent,
  };
}

function collect(data: SessionData): Told[] {
  const { trace, converter, activations, links } = data;
  const delivered: Told[] = [];
  const updates = new Map<string, Told>();
  trace.jobs.forEach((jobs, task) => {
    for (
      const { eventId, kind, name = "", input, updateId = "", protocolInstanceId = "" } of jobs
    ) {
      const base = {
        eventId: eventId || (activations[task]?.startedEventId ?? 0),
        name,
        arguments: readPayloads(input, converter),
      };
      const add = (message: MessageView): Told => {
        const one = { message, task, outcomes: [] };
        delivered.push(one);
        return one;
      };
      if (kind === "signalWorkflow") add({ kind: "signal", state: "taken", ...base });
      else if (kind === "cancelWorkflow") {
        add({ kind: "cancelRequest", state: "taken", ...base, name: "cancel" });
      } else if (kind === "doUpdate") {
        const accepted = links.byKey.get(`update ${protocolInstanceId}`) ?? base.eventId;
        updates.set(
          protocolInstanceId,
          add({ kind: "update", state: "waiting", updateId, ...base, eventId: accepted }),
        );
      }
    }
    if (updates.size > 0) {
      collectAnswers(data, task, updates);
    }
  });
  return delivered;
}

/** Collects responses to updates among the commands of a task. */
function collectAnswers(
  { activations, converter }: SessionData,
  task: number,
  updates: Map<string, Told>,
): void {
  for (const command of activations[task]?.commands ?? []) {
    if (command.kind !== CommandKind.COMMAND_KIND_UPDATE_RESPONSE) continue;
    const { kind, attributes: { protocolInstanceId, result, failure } } = decodeCommand(
      command,
      converter,
    );
    const state = kind === "AcceptUpdate"
      ? "accepted"
      : kind === "CompleteUpdate"
      ? "completed"
      : "failed";
    updates.get(String(protocolInstanceId))?.outcomes.push({
      ...{ task, state },
      ...(kind === "CompleteUpdate" ? { result } : {}),
      ...(kind === "RejectUpdate" ? { failure: failure as ShownFailure } : {}),
    });
  }
}
