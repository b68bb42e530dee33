// The messages of a run up to a position, and what became of each.
import { CommandKind } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeCommand } from "./commands.ts";
import type { SessionData } from "./session_data.ts";
import { countWhile, OpenSpans, valueAt } from "./spans.ts";
import { shownAll, type ShownFailure } from "./values.ts";

/** A message to the workflow, and what became of it by a position. */
export interface MessageView {
  readonly kind: "signal" | "update" | "cancelRequest";
  /** Its name on the wire. */
  readonly name: string;
  /** Its arguments, decoded for showing. */
  readonly arguments: readonly unknown[];
  /** The event that it is in: its arrival, or for updates their acceptance. */
  readonly eventId: number;
  /** Of an update: its id. */
  readonly updateId?: string;
  /**
   * `arrived`: the code is told in its next task. `waiting`: nothing in the code has taken it yet. `taken`: a handler or a wait took it.
   * Updates are accepted, and then completed or failed.
   */
  readonly state: "arrived" | "waiting" | "taken" | "accepted" | "completed" | "failed";
  /** Of an update: what the workflow answered. */
  readonly result?: unknown;
  /** Of an update: why it was rejected or failed. */
  readonly failure?: ShownFailure;
}

/** A message of the whole run, with the activations in which something became of it. */
interface Told {
  readonly message: MessageView;
  readonly task: number;
  /** Answers to an update, in order. */
  readonly answers: (Pick<MessageView, "state" | "result" | "failure"> & { readonly task: number })[];
}

/** All messages, so that a position costs what is open at it, and a copy of references. */
interface AllTold {
  readonly told: readonly Told[];
  /** Each as it is in the end. */
  readonly final: readonly MessageView[];
  /** From arrival to the last answer. */
  readonly open: OpenSpans;
  /** The first message of an event, by index. */
  readonly ofEvent: ReadonlyMap<number, number>;
}

const all = new WeakMap<SessionData, AllTold>();

/** `at`: index of the last activation that has been run. */
export function messagesAt(data: SessionData, at: number, position: number): MessageView[] {
  let known = all.get(data);
  if (known === undefined) all.set(data, known = inOrder(collect(data)));
  const { told, final, open, ofEvent } = known;
  const { trace, activations } = data;
  const count = countWhile(told.length, (i) => told[i]!.task <= at);
  const arrived = arrivedSince(data, activations[at]?.startedEventId ?? 0, position, (id) => (ofEvent.get(id) ?? count) >= count);
  // With room for what has arrived: to push it would copy all the others once more.
  const messages = final.slice(0, count + arrived.length);
  for (const i of open.at(at)) messages[i] = asOf(told[i]!, at);
  // Signals of a name are taken in order, so the newest of it are the ones that still wait.
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

/** Messages of the events after one, up to a position, of which no task has told the code. */
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
      messages.push({ kind: "signal", name, arguments: shownAll(input?.payloads, converter), ...arrived });
    } else if (attributes.case === "workflowExecutionCancelRequestedEventAttributes") {
      messages.push({ kind: "cancelRequest", name: "cancel", arguments: [], ...arrived });
    }
  }
  return messages;
}

/** A message with the last of its answers up to an activation. */
function asOf({ message, answers }: Told, at: number): MessageView {
  const last = answers[countWhile(answers.length, (i) => answers[i]!.task <= at) - 1];
  if (last === undefined) return message;
  const { task: _, ...answer } = last;
  return { ...message, ...answer };
}

function inOrder(told: readonly Told[]): AllTold {
  const ofEvent = new Map<number, number>();
  told.forEach(({ message: { eventId } }, i) => ofEvent.has(eventId) || ofEvent.set(eventId, i));
  return {
    told,
    final: told.map((one) => asOf(one, Infinity)),
    open: new OpenSpans(told.length, (i) => told[i]!.task, (i) => told[i]!.answers.at(-1)?.task ?? -1),
    ofEvent,
  };
}

function collect(data: SessionData): Told[] {
  const { trace, converter, activations, links } = data;
  const told: Told[] = [];
  const updates = new Map<string, Told>();
  trace.jobs.forEach((jobs, task) => {
    for (const { eventId, kind, name = "", input, updateId = "", protocolInstanceId = "" } of jobs) {
      const base = { eventId: eventId || (activations[task]?.startedEventId ?? 0), name, arguments: shownAll(input, converter) };
      const add = (message: MessageView): Told => {
        const one = { message, task, answers: [] };
        told.push(one);
        return one;
      };
      if (kind === "signalWorkflow") add({ kind: "signal", state: "taken", ...base });
      else if (kind === "cancelWorkflow") add({ kind: "cancelRequest", state: "taken", ...base, name: "cancel" });
      else if (kind === "doUpdate") {
        const accepted = links.byKey.get(`update ${protocolInstanceId}`) ?? base.eventId;
        updates.set(protocolInstanceId, add({ kind: "update", state: "waiting", updateId, ...base, eventId: accepted }));
      }
    }
    if (updates.size > 0) collectAnswers(data, task, updates);
  });
  return told;
}

/** Answers to updates among the commands of a task. */
function collectAnswers({ activations, converter }: SessionData, task: number, updates: Map<string, Told>): void {
  for (const command of activations[task]?.commands ?? []) {
    if (command.kind !== CommandKind.COMMAND_KIND_UPDATE_RESPONSE) continue;
    const { kind, attributes: { protocolInstanceId, result, failure } } = decodeCommand(command, converter);
    const state = kind === "AcceptUpdate" ? "accepted" : kind === "CompleteUpdate" ? "completed" : "failed";
    updates.get(String(protocolInstanceId))?.answers.push({
      ...{ task, state },
      ...(kind === "CompleteUpdate" ? { result } : {}),
      ...(kind === "RejectUpdate" ? { failure: failure as ShownFailure } : {}),
    });
  }
}
