// Maps events to the fibers that they woke.
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import type { TracedJob } from "../../executor/tasks/replay_trace.ts";
import type { SessionData } from "../session_data.ts";
import type { Places } from "./places.ts";
import type { Cause } from "./types.ts";

/**
 * Returns the event of a job. An update has no event before the task that accepts it: then that
 * event.
 */
export function findJobEvent(
  { links }: SessionData,
  { eventId, protocolInstanceId }: TracedJob,
): number {
  return protocolInstanceId === undefined
    ? eventId
    : links.byKey.get(`update ${protocolInstanceId}`) ?? eventId;
}

/** Returns all causes, in order. */
export function findCauses(
  data: SessionData,
  { wakes, lanes, waitLanes }: LineTrace,
  places: Places,
): Cause[] {
  const last = data.tasks.at(-1)?.last ?? -1;
  /** Waits by fiber and the activation in which they were settled. */
  const settled = new Map<string, number[]>();
  data.trace.waits.forEach(({ to }, i) => {
    if (to === undefined) return;
    const key = `${to} ${waitLanes[i] ?? -1}`;
    settled.set(key, [...settled.get(key) ?? [], i]);
  });
  return wakes.filter(({ at, eventId }) => at <= last && eventId > 0).map((wake) => {
    const { at, lane, point } = wake;
    const place = point < 0 ? undefined : places.placeOf(point);
    const fiber = lane < 0 ? undefined : lane;
    const taskEventId = data.activations[at]?.startedEventId ?? 0;
    return { eventId: eventOf(wake), fiber, taskEventId, place };
  });

  function eventOf({ at, eventId, lane, point, wait }: LineTrace["wakes"][number]): number {
    const { update = "" } = lanes[lane] ?? {};
    if (point < 0) return data.links.byKey.get(`update ${update}`) ?? eventId;
    // `@temporalio/workflow` programs apply all jobs before code continues, so the last job need
    // not be the one that woke it. The event of the settled wait decides.
    const line = places.placeOf(point);
    const own = settled.get(`${at} ${lane}`) ?? [];
    const alike = own.filter((i) => isAt(places, data.trace.waits[i]!.value.site, line));
    const found = wait >= 0 ? wait : alike[0] ?? (own.length === 1 ? own[0] : undefined);
    const endedBy = found === undefined ? undefined : data.cache.factsOf(data, found).endedBy;
    if (endedBy !== undefined) return endedBy;
    const jobs = (data.trace.jobs[at] ?? []).filter((job) => job.eventId === eventId);
    return jobs.length === 1 ? findJobEvent(data, jobs[0]!) : eventId;
  }
}

function isAt(places: Places, site: string, line: ReturnType<Places["placeOf"]>): boolean {
  const place = places.ofSite(site);
  return place !== undefined && place.file === line?.file && place.line === line.line;
}
