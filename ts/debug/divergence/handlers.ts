// Missing message handlers: an accepted update that the code rejects, or a signal that it does not
// take. The line is that of the changed definition or handler.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { MessageKind, MessageSite } from "../../executor/program/definition_sites.ts";
import type { ReplayEvidence } from "../../executor/tasks/replay.ts";
import type { Place } from "./align.ts";
import type { HistoryStep } from "./history_steps.ts";
import type { LikelyEdit } from "./types.ts";
import { splitSite } from "./where.ts";

/** The likely edit of a handler. `at`: its source line; undefined if unknown. */
export interface HandlerEdit {
  readonly edit: LikelyEdit;
  readonly at?: string;
}

const handlerEdit = (text: string, subject: string, site: string | undefined): HandlerEdit => ({
  edit: { kind: "handlerMissing", text, subject, confidence: "likely" },
  ...(site === undefined || site === "" ? {} : { at: site }),
});

/** Returns the edit of an update that history accepted and the code rejects. */
export function updateEdit(
  place: Place,
  here: HistoryStep | undefined,
  events: readonly HistoryEvent[],
  evidence: ReplayEvidence,
): HandlerEdit | undefined {
  if (here?.kind !== "update" || here.plan.answer !== "accept") return undefined;
  const { code } = place.pairs[place.at]!;
  const isRejected = code === undefined || code.kind !== "update" || code.plan.answer === "reject";
  const isDelivered = evidence.jobs.flat().some(({ protocolInstanceId }) =>
    protocolInstanceId === here.plan.id
  );
  if (!isRejected || !isDelivered) return undefined;
  const set = siteIn(evidence.handlers, "update", here.name);
  if (set !== undefined) {
    return handlerEdit(
      `the handler of update ${here.name} does not accept updates at this point`,
      here.name,
      set.site,
    );
  }
  const { text, site } = missing("update", here.name, events, evidence, place);
  return handlerEdit(`update ${here.name} has no handler: it was ${text}`, here.name, site);
}

/** Returns the edit of a signal that the code never takes, if that can explain the difference. */
export function signalEdit(
  place: Place,
  here: HistoryStep | undefined,
  events: readonly HistoryEvent[],
  evidence: ReplayEvidence,
  isVerified: boolean,
): HandlerEdit | undefined {
  const { untaken, jobs, activations, handlers, definitions } = evidence;
  const ofTask = new Set(
    jobs.filter((_, i) => activations[i]?.startedEventId === place.task.startedEventId).flat()
      .flatMap(({ kind, name }) => kind === "signalWorkflow" ? [name] : []),
  );
  // The newest signal first: the task that it started differs.
  const names = jobs.flat().flatMap(({ kind, name = "" }) =>
    kind === "signalWorkflow" && (untaken[name] ?? 0) > 0 ? [name] : []
  );
  const name = names.findLast((name) => siteIn(handlers, "signal", name) === undefined);
  if (name === undefined) return undefined;
  // Without this edit the rest of the history replays with another one.
  if (isVerified && !ofTask.has(name)) return undefined;
  const { text, site, isRenamed } = missing("signal", name, events, evidence, place);
  const { code } = place.pairs[place.at]!;
  // History may also have signals that no version of the code takes.
  const isKnown = isRenamed || siteIn(definitions, "signal", name) !== undefined;
  if (!isKnown && (code !== undefined && here !== undefined)) return undefined;
  return handlerEdit(`signal ${name} has no handler: it was ${text}`, `signal ${name}`, site);
}

const siteIn = (
  sites: readonly MessageSite[],
  kind: MessageKind,
  name: string,
): MessageSite | undefined => sites.find((one) => one.kind === kind && one.name === name);

/**
 * Returns the line that defines a message; undefined if several modules define it and not exactly
 * one of them has code that ran here.
 */
function definedAt(
  kind: MessageKind,
  name: string,
  { definitions, handlers }: ReplayEvidence,
  { pairs }: Place,
): string | undefined {
  const all = definitions.filter((one) => one.kind === kind && one.name === name);
  if (all.length <= 1) return all[0]?.site;
  const ran = [...handlers.map(({ site }) => site), ...pairs.map(({ code }) => code?.site ?? "")];
  const files = new Set(ran.filter((site) => site !== "").map(fileOf));
  const near = all.filter(({ site }) => files.has(fileOf(site)));
  return near.length === 1 ? near[0]!.site : undefined;
}

/** The file of "function (file:line:column)". */
const fileOf = (site: string): string => site.replace(/^.*\(|:\d+:\d+\)?$/g, "");

interface Missing {
  readonly text: string;
  readonly site: string | undefined;
  readonly isRenamed: boolean;
}

/** Describes what became of the handler of a message, and finds the line. */
function missing(
  kind: MessageKind,
  name: string,
  events: readonly HistoryEvent[],
  evidence: ReplayEvidence,
  place: Place,
): Missing {
  const { handlers } = evidence;
  const sent = sentNames(events);
  const others = handlers.filter((one) => one.kind === kind && !sent.has(`${kind} ${one.name}`));
  const alike = others.filter((one) => isAlike(one.name, name));
  const own = definedAt(kind, name, evidence, place);
  // In an open run, the message of another handler may not have come yet.
  const isOther = alike.length > 0 || own === undefined || isClosed(events) ||
    others.some(({ site }) => waitsAt(site, evidence));
  const other = others.length === 1 && isOther
    ? others[0]
    : alike.length === 1
    ? alike[0]
    : undefined;
  if (other === undefined) return { text: "removed or renamed", site: own, isRenamed: false };
  // If the old name is still defined, the line that sets the handler was changed, not the
  // definition.
  const site = own === undefined ? definedAt(kind, other.name, evidence, place) : undefined;
  return {
    text: `renamed to ${other.name}`,
    site: site === undefined || site === "" ? other.site : site,
    isRenamed: true,
  };
}

const CLOSING =
  /^workflowExecution(?:Completed|Failed|TimedOut|Terminated|Canceled|ContinuedAsNew)/;

const isClosed = (events: readonly HistoryEvent[]): boolean =>
  CLOSING.test(events.at(-1)?.attributes.case ?? "");

/** Whether the code waits at a line. */
function waitsAt(site: string, { waits }: ReplayEvidence): boolean {
  const here = splitSite(site);
  return site !== "" && waits.some(({ to, value }) => {
    const wait = splitSite(value.site);
    return to === undefined && wait.file === here.file && wait.line === here.line;
  });
}

/** Whether one name contains the other, ignoring case and separators. */
function isAlike(a: string, b: string): boolean {
  const [one, other] = [a, b].map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, ""));
  return one !== "" && other !== "" && (one!.includes(other!) || other!.includes(one!));
}

/** Returns the messages of a history, as "signal approve". */
function sentNames(events: readonly HistoryEvent[]): Set<string> {
  const names = new Set<string>();
  for (const { attributes: at } of events) {
    if (at.case === "workflowExecutionSignaledEventAttributes") {
      names.add(`signal ${at.value.signalName}`);
    } else if (at.case === "workflowExecutionUpdateAcceptedEventAttributes") {
      names.add(`update ${at.value.acceptedRequest?.input?.name ?? ""}`);
    } else if (at.case === "workflowExecutionUpdateAdmittedEventAttributes") {
      names.add(`update ${at.value.request?.input?.name ?? ""}`);
    }
  }
  return names;
}
