// Keeps room, run, position, file and pane in the address:
// "#/open?run=sample:counter&e=5&file=workflow.ts". A burst of steps is one entry of the browser's
// history: a step after a pause makes an entry, the following steps rewrite it.
import { batch, effect, type Signal } from "@preact/signals";
import {
  currentRun,
  file,
  goTo,
  intro,
  openedRuns,
  type Pane,
  pane,
  position,
  type Room,
  room,
  showRun,
} from "./state.ts";

/** A step after a pause of this length makes a new entry. */
const REST_MS = 1000;
/** Least time between changes of the address: browsers limit them to 100 to 200 in 30 s. */
const WRITE_MS = 300;

export interface Route {
  readonly room: Room;
  readonly run: string | undefined;
  readonly event: number | undefined;
  readonly file: string | undefined;
  readonly pane: Pane | undefined;
  /** Other parameters, see {@link bindToAddress}. */
  readonly more: ReadonlyMap<string, string>;
}

const ROOMS: readonly string[] = ["open", "runs", "live"] satisfies Room[];
const PANES: readonly string[] = ["code", "events", "why"] satisfies Pane[];
/** A signal, or an accessor. */
type Bound = Pick<Signal<string | undefined>, "value">;
const bound = new Map<string, Bound>();

/**
 * Keeps a value in the address as a parameter, for example "branch". `value` is read in an effect.
 */
export function bindToAddress(name: string, value: Bound): void {
  bound.set(name, value);
}

/** Parses the fragment. Returns undefined for other forms, such as "#history=...". */
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
  // Colon and slash are valid in a fragment, and easier to read unescaped.
  const text = given.toString().replaceAll("%3A", ":").replaceAll("%2F", "/");
  return `#/${room}${text === "" ? "" : `?${text}`}`;
}

function current(): Route {
  const run = currentRun.value;
  const more = new Map(
    [...bound].flatMap(([name, { value }]) => value === undefined ? [] : [[name, value] as const]),
  );
  if (room.value !== "open" || run === undefined || intro.value) {
    return { ...emptyRoute, room: room.value, more: room.value === "open" ? new Map() : more };
  }
  return {
    room: "open",
    run: run.key,
    event: position.value,
    file: file.value,
    pane: pane.value,
    more,
  };
}

const writeMore = ({ more }: Route): string => JSON.stringify([...more]);

let last: Route = emptyRoute;
let movedMs = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Writes the address when one of its parts changes. Runs as an effect. */
function follow(): void {
  const now = current();
  if (writeRoute(now) === writeRoute(last)) return;
  // Moving along a chain of runs is a move, although the run changes.
  const isOneChain = now.more.has("chain") && last.more.has("chain");
  const isMove = now.room === last.room && (now.run === last.run || isOneChain);
  const rested = performance.now() - movedMs > REST_MS;
  // Opening or closing a part is written immediately, for a reload and for Back; steps are
  // throttled.
  const opens = writeMore(now) !== writeMore(last);
  movedMs = performance.now();
  last = now;
  clearTimeout(timer);
  const address = writeRoute(now) === "#/open"
    ? location.pathname + location.search
    : writeRoute(now);
  if (!isMove || rested || opens) history.pushState(null, "", address);
  else timer = setTimeout(() => history.replaceState(null, "", address), WRITE_MS);
}

/** Applies the address to the state. `find` opens a run that is not open. */
async function obey(find: (key: string) => Promise<boolean>): Promise<void> {
  clearTimeout(timer);
  const route = parseRoute(location.hash);
  if (route === undefined) return;
  const { run: key } = route;
  if (key !== undefined && !openedRuns.value.some((run) => run.key === key) && !await find(key)) {
    return;
  }
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
 * Applies the address, then keeps it up to date. `find` opens the run of a key and resolves with
 * whether it is open. `isOpen`: a run was opened already, so the address at the start is ignored.
 */
export async function startRouter(
  find: (key: string) => Promise<boolean>,
  isOpen: boolean,
): Promise<void> {
  if (!isOpen) await obey(find);
  effect(follow);
  addEventListener("popstate", () => void obey(find));
}
