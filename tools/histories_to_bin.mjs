#!/usr/bin/env node
// Converts exported histories (JSON in the dialects of Temporal's tools) to protobuf bytes, for the
// core's tests over real histories. The core reads no JSON; this is how its tests get the published
// ones.
import { build } from "esbuild";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { readCommandLine } from "./lib/command_line.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const [from, to] = readCommandLine(
  `usage: node tools/histories_to_bin.mjs FROM TO

Writes TO/<path>.bin (bytes of temporal.api.history.v1.History) for every history FROM/<path>.json, and TO/<path>.unreadable with the
reason for each invalid one. Files named index.json and *.observed.json are skipped.`,
  {},
  { least: 2, most: 2 },
).positionals;

const work = mkdtempSync(join(tmpdir(), "histories-"));
const bundle = join(work, "proto.mjs");
await build({
  stdin: {
    contents:
      `export { HistorySchema } from "./ts/messages/generated/temporal/api/history/v1/message_pb.ts";
export { create, fromJson, toBinary } from "@bufbuild/protobuf";`,
    resolveDir: root,
  },
  bundle: true,
  format: "esm",
  platform: "node",
  outfile: bundle,
  logLevel: "error",
});
const { HistorySchema, fromJson, toBinary } = await import(pathToFileURL(bundle).href);
rmSync(work, { recursive: true });

/** Enum values are written as EVENT_TYPE_TIMER_STARTED or, by older tools, as TimerStarted. */
function enumName(desc, value) {
  if (typeof value !== "string" || desc.values.some((v) => v.name === value)) return value;
  const prefix = (desc.sharedPrefix ?? "").toUpperCase();
  const snake = value.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
  return desc.values.some((v) => v.name === prefix + snake) ? prefix + snake : value;
}

/**
 * Brings the JSON of a message to what protobuf's JSON mapping allows: full enum names, no nulls.
 */
function normalize(desc, json) {
  if (
    json === null || typeof json !== "object" || Array.isArray(json) ||
    desc.typeName.startsWith("google.protobuf.")
  ) {
    return json;
  }
  const out = {};
  for (const [key, value] of Object.entries(json)) {
    if (value === null) continue;
    const field = desc.fields.find((f) => f.jsonName === key || f.name === key);
    out[key] = field ? normalizeField(field, value) : value;
  }
  return out;
}

function normalizeField(field, value) {
  const one = (v) => {
    if (field.enum) return enumName(field.enum, v);
    return field.message ? normalize(field.message, v) : v;
  };
  if (field.fieldKind === "list") {
    return Array.isArray(value) ? value.filter((v) => v !== null).map(one) : value;
  }
  if (field.fieldKind === "map") {
    return Object.fromEntries(
      Object.entries(value).filter(([, v]) => v !== null).map(([k, v]) => [k, one(v)]),
    );
  }
  return one(value);
}

/** {events}, {history: {events}}, or a list with one of them; newest first is turned around. */
function eventsOf(json) {
  const inner = Array.isArray(json) ? json[0] : json;
  const events = inner?.events ?? inner?.history?.events;
  if (!Array.isArray(events)) throw new Error("no list of events");
  return [...events].sort((a, b) => Number(a.eventId) - Number(b.eventId));
}

const walk = (dir) =>
  readdirSync(dir).flatMap((
    n,
  ) => (statSync(join(dir, n)).isDirectory() ? walk(join(dir, n)) : [join(dir, n)]));
let converted = 0;
for (const file of walk(from)) {
  if (
    !file.endsWith(".json") || file.endsWith(".observed.json") || basename(file) === "index.json"
  ) continue;
  const target = join(to, relative(from, file).replace(/\.json$/, ""));
  mkdirSync(dirname(target), { recursive: true });
  try {
    const json = normalize(HistorySchema, {
      events: eventsOf(JSON.parse(readFileSync(file, "utf8"))),
    });
    writeFileSync(
      `${target}.bin`,
      toBinary(HistorySchema, fromJson(HistorySchema, json, { ignoreUnknownFields: true })),
    );
    converted++;
  } catch (error) {
    writeFileSync(`${target}.unreadable`, String(error.message));
  }
}
console.log(`${converted} histories converted`);
