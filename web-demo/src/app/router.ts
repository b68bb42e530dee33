// The address has what one would want to come back to: room, run, position, file, pane. "#/open?run=sample:counter&e=5&file=workflow.ts".
// Back and forward move in it, a reload finds it again, and a link to it leads to the same place where the history is kept.
//
// A burst of steps is one entry of the browser's history: the entry is made when a move comes after a rest, and then rewritten.
import { batch, effect, type Signal } from "@preact/signals";
import { currentRun, file, goTo, intro, openedRuns, type Pane, pane, position, type Room, room, showRun } from "./state.ts";

/** A move after so long a rest is an entry of its own. */
const REST_MS = 1000;
/** Browsers refuse more than some hundred changes of the address in half a minute. */
const WRITE_MS = 300;

export interface Route {
  readonly room: Room;
  readonly run: string | undefined;
  readonly event: number | undefined;
  readonly file: string | undefined;
  readonly pane: Pane | undefined;
  /** What parts have put there under names of their own. */
  readonly more: ReadonlyMap<string, string>;
}

const ROOMS: readonly string[] = ["open", "runs", "live"] satisfies Room[];
const PANES: readonly string[] = ["code", "events", "why"] satisfies Pane[];
/** A signal, or what reads and sets signals. */
type Bound = Pick<Signal<string | undefined>, "value">;
const bound = new Map<string, Bound>();

/** Keeps a part's own value in the address under a name of its own ("branch"). Its `value` is read in an effect. */
export function bindToAddress(name: string, value: Bound): void {
  bound.set(name, value);
}

/** Reads the part behind "#". Other addresses ("#history=...") are of no route. */
export function parseRoute(hash: string): Route | undefined {
  const m = /^#\/(\w*)(?:\?(.*))?$/.exec(hash);
  if (m === null) return hash === "" || hash === "#" ? emptyRoute : undefined;
  const given = new URLSearchParams(m[2] ?? "");
  const event = Number(given.get("e") ?? Number.NaN);
  const asked = given.get("pane") ?? "";
  return {
    room: ROOMS.includes(m[1]!) ? m[1] as Room : "open",
    run: given.get("run") ?? undefined,
    event: Number.isInteger(event) && event >= 1 ? event : undefined,
    file: given.get("file") ?? undefined,
    pane: PANES.includes(asked) ? asked as Pane : undefined,
    more: new Map([...given].filter(([name]) => !["run", "e", "file", "pane"].includes(name))),
  };
}

const emptyRoute: Route = {
  room: "open",
  run: undefined,
  event: undefined,
  file: undefined,
  pane: undefined,
  more: new Map(),
};

export function writeRoute({ room, run, event, file, pane, more }: Route): string {
  const given = new URLSearchParams();
  if (run !== undefined) given.set("run", run);
  if (event !== undefined) given.set("e", String(event));
  if (file !== undefined) given.set("file", file);
  if (pane !== undefined && pane !== "code") given.set("pane", pane);
  for (const [name, value] of more) given.set(name, value);
  // A colon and a slash may stand in this part of an address, and are easier to read as they are.
  const text = given.toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return `#/${room}${text === "" ? "" : `?${text}`}`;
}

function current(): Route {
  const run = currentRun.value;
  const more = new Map([...bound].flatMap(([name, { value }]) => value === undefined ? [] : [[name, value] as const]));
  if (room.value !== "open" || run === undefined || intro.value) {
    return { ...emptyRoute, room: room.value, more: room.value === "open" ? new Map() : more };
  }
  return { room: "open", run: run.key, event: position.value, file: file.value, pane: pane.value, more };
}

const writeMore = ({ more }: Route): string => JSON.stringify([...more]);

let last: Route = emptyRoute;
let movedMs = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Writes the address whenever what it has changes. */
function follow(): void {
  const now = current();
  if (writeRoute(now) === writeRoute(last)) return;
  // A hand that goes along a chain of runs moves, and opens nothing.
  const isOneChain = now.more.has("chain") && last.more.has("chain");
  const isMove = now.room === last.room && (now.run === last.run || isOneChain);
  const rested = performance.now() - movedMs > REST_MS;
  // What was opened or closed is there for a reload and for the way back at once; steps may come many in a second.
  const opens = writeMore(now) !== writeMore(last);
  movedMs = performance.now();
  last = now;
  clearTimeout(timer);
  const address = writeRoute(now) === "#/open" ? location.pathname + location.search : writeRoute(now);
  if (!isMove || rested || opens) history.pushState(null, "", address);
  else timer = setTimeout(() => history.replaceState(null, "", address), WRITE_MS);
}

/** Does what the address says. `find` opens a run that is not open. */
async function obey(find: (key: string) => Promise<boolean>): Promise<void> {
  clearTimeout(timer);
  const route = parseRoute(location.hash);
  if (route === undefined) return;
  const { run: key } = route;
  if (key !== undefined && !openedRuns.value.some((run) => run.key === key) && !await find(key)) return;
  batch(() => {
    last = route;
    const run = openedRuns.value.find((run) => run.key === key);
    if (run !== undefined) {
      if (run !== currentRun.value) showRun(run, route.event);
      else if (route.event !== undefined) goTo(route.event);
      intro.value = false;
    } else if (route.room === "open" && !intro.value) currentRun.value = undefined;
    room.value = route.room;
    file.value = route.file;
    pane.value = route.pane ?? "code";
    for (const [name, value] of bound) value.value = route.more.get(name);
  });
}

/**
 * Begins: what the address says is done, then it is kept. `find` opens the run of a key, and returns whether it did. `isOpen`: a run came in by
 * another door already, and the address is of it from now on.
 */
export async function startRouter(find: (key: string) => Promise<boolean>, isOpen: boolean): Promise<void> {
  if (!isOpen) await obey(find);
  effect(follow);
  addEventListener("popstate", () => void obey(find));
}
