// Reads the main thread of a page from a trace of the DevTools protocol: its whole tasks, and the
// script, style and layout in them.

/**
 * Names of events, as in DevTools' panel. What happens during one of these counts as part of it: a
 * garbage collection, a layout that a script requests.
 */
const SCRIPT = [
  "EvaluateScript",
  "FunctionCall",
  "RunMicrotasks",
  "TimerFire",
  "FireAnimationFrame",
  "FireIdleCallback",
  "EventDispatch",
];
const SCRIPT_TOO = [
  "v8.run",
  "v8.compile",
  "v8.callFunction",
  "HandlePostMessage",
  "XHRReadyStateChange",
  "MinorGC",
  "MajorGC",
];
const STYLE_AND_LAYOUT = [
  "UpdateLayoutTree",
  "RecalculateStyles",
  "Layout",
  "Document::updateStyleAndLayout",
];
const COUNTED = new Set([...SCRIPT, ...SCRIPT_TOO, ...STYLE_AND_LAYOUT]);

/**
 * Tasks of the main thread of the page, what of them is script, style and layout (`counted`; the
 * rest is paint, compositing and the browser's own), and its marks; microseconds. What each took is
 * time on a processor, where the trace has it: on a busy machine the rest is waiting for one.
 */
export function mainThread(events) {
  const marked = events.filter(({ cat, name }) =>
    cat?.includes("blink.user_timing") && name.startsWith("bench ")
  );
  const mains = events.filter(({ name, args }) =>
    name === "thread_name" && args.name === "CrRendererMain"
  );
  const busiest = (list) => {
    const count = new Map();
    for (const { pid, tid } of list) {
      count.set(`${pid} ${tid}`, (count.get(`${pid} ${tid}`) ?? 0) + 1);
    }
    return [...count].sort(([, a], [, b]) => b - a)[0]?.[0];
  };
  const runs = events.filter(({ name, ph }) =>
    ph === "X" && (name === "RunTask" || name === "ThreadControllerImpl::RunTask")
  );
  const names = new Set(mains.map(({ pid, tid }) => `${pid} ${tid}`));
  const own = marked.length > 0
    ? busiest(marked)
    : busiest(runs.filter(({ pid, tid }) => names.has(`${pid} ${tid}`)));
  const name = runs.some((run) => run.name === "RunTask" && `${run.pid} ${run.tid}` === own)
    ? "RunTask"
    : "ThreadControllerImpl::RunTask";
  // What this script asks of the page comes as a message of the DevTools protocol: such a task is
  // left out.
  const asked = events.filter(({ name, pid, tid, args }) =>
    name === "Receive mojo message" && `${pid} ${tid}` === own &&
    JSON.stringify(args).includes("DevToolsSession")
  ).map(({ ts }) => ts);
  const isAsked = ({ ts, dur }) => asked.some((at) => at >= ts && at <= ts + dur);
  const tasks = runs.filter((run) => run.name === name && `${run.pid} ${run.tid}` === own);
  const ofPage = tasks.filter((task) => !isAsked(task));
  const spent = ({ ts, dur, tdur }) => ({ ts, dur: tdur ?? dur });
  const counted = outermost(
    events.filter(({ name, ph, pid, tid }) =>
      ph === "X" && COUNTED.has(name) && `${pid} ${tid}` === own
    ),
  );
  const asks = tasks.filter(isAsked);
  return {
    tasks: ofPage.map(spent),
    counted: counted.filter(({ ts }) =>
      !asks.some((task) => ts >= task.ts && ts <= task.ts + task.dur)
    ).map(spent),
    marks: new Map(marked.map(({ name, ts }) => [name, ts])),
  };
}

/** Without what lies inside another one. */
function outermost(events) {
  let end = -Infinity;
  return events.toSorted((a, b) => a.ts - b.ts || b.dur - a.dur).filter(({ ts, dur }) => {
    if (ts < end) return false;
    end = ts + dur;
    return true;
  });
}

/** Milliseconds of the longest one. */
export function longest(tasks) {
  return tasks.reduce((most, { dur }) => Math.max(most, dur), 0) / 1000;
}
