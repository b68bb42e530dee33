// Two histories of one life, from two services, event by event and field by field. What no two runs
// share (ids, times, sizes, stacks) is replaced by what it is; everything else has to be equal.

// deno-lint-ignore no-explicit-any
type Json = any;

/** `path`: event number, its type, and the field. */
export interface Difference {
  readonly path: string;
  readonly theirs: string;
  readonly ours: string;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** A history as JSON, without what differs between any two runs. */
export function normalized(history: Json): Json[] {
  const ids = new Map<string, string>();
  // The first id that is met is the run's own, and so on: who refers to whom is kept.
  const idName = (id: string) => {
    if (!ids.has(id)) ids.set(id, `<id ${ids.size}>`);
    return ids.get(id)!;
  };
  const walk = (value: Json, key: string): Json => {
    if (Array.isArray(value)) return value.map((one) => walk(one, key));
    if (value !== null && typeof value === "object") {
      const sticky = value.kind === "TASK_QUEUE_KIND_STICKY";
      return Object.fromEntries(
        Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).flatMap(([name, inner]) => {
          if (name === "taskId") return [];
          if (name === "historySizeBytes" || name === "stackTrace" || name === "requestId") {
            return [[name, `<${name}>`]];
          }
          if (sticky && name === "name") return [[name, "<sticky>"]];
          return [[name, walk(inner, name)]];
        }),
      );
    }
    if (typeof value !== "string") return value;
    if (TIME.test(value)) return "<time>";
    // Payloads are opaque: what is in them is the code's.
    return key === "data" ? value : value.replace(UUID, idName);
  };
  return history.events.map((event: Json) => walk(event, ""));
}

/** Every difference, the events aligned by their number. */
export function differences(theirs: Json, ours: Json): Difference[] {
  const found: Difference[] = [];
  const show = (value: Json) => value === undefined ? "absent" : JSON.stringify(value);
  const compare = (a: Json, b: Json, path: string) => {
    if (
      a !== null && b !== null && typeof a === "object" && typeof b === "object" &&
      Array.isArray(a) === Array.isArray(b)
    ) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
        compare(a[key], b[key], `${path}.${key}`);
      }
    } else if (show(a) !== show(b)) found.push({ path, theirs: show(a), ours: show(b) });
  };
  const [left, right] = [normalized(theirs), normalized(ours)];
  const types = (events: Json[]) =>
    events.map(({ eventType }) => eventType.replace("EVENT_TYPE_", "")).join("\n");
  if (types(left) !== types(right)) {
    return [{ path: "order of events", theirs: types(left), ours: types(right) }];
  }
  left.forEach((event, i) =>
    compare(event, right[i], `${event.eventType.replace("EVENT_TYPE_", "")}`)
  );
  return found;
}

/**
 * Every field that an event of a kind has, as `EVENT.path`; entries of maps and lists count as one.
 */
export function fieldsOf(history: Json): Set<string> {
  const paths = new Set<string>();
  const walk = (value: Json, path: string) => {
    if (Array.isArray(value)) { for (const one of value) walk(one, path); }
    else if (value !== null && typeof value === "object") {
      for (const [key, inner] of Object.entries(value)) {
        // Names that users chose.
        if (/(metadata|fields|details|indexedFields)$/.test(path)) walk(inner, path);
        else walk(inner, `${path}.${key}`);
      }
    } else paths.add(path);
  };
  for (const event of history.events) walk(event, event.eventType.replace("EVENT_TYPE_", ""));
  return paths;
}
