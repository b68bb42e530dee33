#!/usr/bin/env node
// Compares the times of random schedules with those of a Temporal server (ListScheduleMatchingTimes)
// and records the server's times as a fixture of tests. Needs dist: node tools/build_dist.mjs.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { readCommandLine } from "./lib/command_line.mjs";

const { values: options } = readCommandLine(
  `usage: node tools/schedule_times.mjs --address HOST:PORT [--specs N] [--seed N] [--times N] [--record FILE]

Creates N random schedules (default 500: calendars, intervals, cron strings, exclusions, time zones), one after the other and paused,
asks the server for their next times (default 50), and compares them with the embedded engine. Exits with 1 if any differ.
--record FILE writes the specs and the server's times as JSON.`,
  {
    address: { type: "string" },
    specs: { type: "string" },
    seed: { type: "string" },
    times: { type: "string" },
    record: { type: "string" },
  },
  { least: 0, most: 0 },
);

const dist = (path) => import(new URL(`../dist/ts/${path}`, import.meta.url).href);
const { GrpcService } = await dist("grpc/grpc_service.js");
const { canonicalSpec } = await dist("engine/schedules/canonical.js");
const { CompiledSpec } = await dist("engine/schedules/spec.js");
const { ScheduleSpecSchema } = await dist(
  "messages/generated/temporal/api/schedule/v1/message_pb.js",
);
const requests = await dist(
  "messages/generated/temporal/api/workflowservice/v1/request_response_pb.js",
);
const { create, fromBinary, fromJson, toBinary } = await import("@bufbuild/protobuf");

/**
 * Zones in which the server computes other times, because it assumes that clocks change by one
 * hour. The other known reasons of differences are in docs/schedules.md.
 */
const SERVER_DIFFERS = new Set(["Australia/Lord_Howe", "Antarctica/Troll"]);
const DAY_MS = 86_400_000;

const { specs: specCount = "500", seed: seedText = "1", times: timeCount = "50" } = options;
const seed = Number(seedText);
let state = seed >>> 0;
/** A random number from 0 to 1 (mulberry32). */
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}
const below = (n) => Math.floor(random() * n);
const oneOf = (values) => values[below(values.length)];
const chance = (p) => random() < p;

const MONTHS = [
  "jan",
  "Feb",
  "march",
  "APR",
  "may",
  "Jun",
  "jul",
  "aug",
  "SEP",
  "october",
  "nov",
  "dec",
];
const DAYS = ["sun", "Mon", "tue", "WED", "thursday", "fri", "sat"];

function part(min, max, names = []) {
  const name = (
    n,
  ) => (names.length > 0 && chance(0.5) ? names[n - (names === MONTHS ? 1 : 0)] : String(n));
  const start = min + below(max - min + 1);
  const end = start + below(max - start + 1);
  switch (below(5)) {
    case 0:
      return "*";
    case 1:
      return `*/${1 + below(Math.ceil((max - min) / 2))}`;
    case 2:
      return `${start}-${end}/${1 + below(5)}`;
    case 3:
      return `${name(start)}-${name(end)}`;
    default:
      return name(start);
  }
}
const field = (min, max, names) =>
  Array.from({ length: chance(0.3) ? 2 : 1 }, () => part(min, max, names)).join(",");

/** Small fields often match; day and month rarely both do. */
function calendar() {
  return {
    ...(chance(0.3) && { second: field(0, 59) }),
    minute: field(0, 59),
    hour: field(0, 23),
    ...(chance(0.3) && { dayOfMonth: field(1, 31) }),
    ...(chance(0.3) && { month: field(1, 12, MONTHS) }),
    ...(chance(0.3) && { dayOfWeek: field(0, 6, DAYS) }),
    ...(chance(0.1) && { year: field(2020, 2040) }),
  };
}

function cron(zone) {
  const tz = zone === undefined ? "" : `${oneOf(["CRON_TZ=", "TZ="])}${zone} `;
  const fields = [
    field(0, 59),
    field(0, 23),
    chance(0.7) ? "*" : field(1, 31),
    chance(0.7) ? "*" : field(1, 12, MONTHS),
    chance(0.7) ? "*" : field(0, 7, []),
  ];
  const comment = chance(0.2) ? " # a comment" : "";
  const predefined = ["@hourly", "@daily", "@weekly", "@monthly", "@yearly", "@midnight"];
  if (chance(0.15)) return tz + oneOf(predefined) + comment;
  if (chance(0.1)) return `@every ${1 + below(90)}m${below(60)}s${chance(0.5) ? "/13s" : ""}`;
  if (chance(0.2)) fields.push("*");
  if (fields.length === 6 && chance(0.5)) fields.unshift(field(0, 59));
  return tz + fields.join(" ") + comment;
}

function interval() {
  const every = 60 + below(100_000);
  return { interval: `${every}s`, ...(chance(0.5) && { phase: `${below(every)}s` }) };
}

const zones = Intl.supportedValuesOf("timeZone").filter((zone) => !SERVER_DIFFERS.has(zone));
/** A window in the years for which both sides have the same rules. */
const windowStart = () =>
  Date.UTC(2000 + below(37), below(12), 1 + below(28), below(24), below(60), below(60));

function spec() {
  const zone = chance(0.8) ? oneOf(zones) : "";
  const made = {};
  const list = (p, make) => (chance(p) ? Array.from({ length: 1 + below(2) }, make) : []);
  made.calendar = list(0.5, calendar);
  made.interval = list(0.2, interval);
  if (chance(0.4)) {
    const own = zone === "" && chance(0.5) ? oneOf(zones) : undefined;
    made.cronString = Array.from({ length: 1 + below(2) }, () => cron(own));
  }
  if (made.calendar.length + made.interval.length === 0 && !made.cronString) {
    made.calendar = [calendar()];
  }
  if (zone !== "") made.timezoneName = zone;
  if (chance(0.3)) made.excludeCalendar = [calendar()];
  const start = windowStart();
  if (chance(0.1)) made.startTime = new Date(start + below(100 * DAY_MS)).toISOString();
  if (chance(0.1)) made.endTime = new Date(start + below(400 * DAY_MS)).toISOString();
  return { spec: made, after: new Date(start).toISOString() };
}

function compiled(json) {
  return new CompiledSpec(canonicalSpec(fromJson(ScheduleSpecSchema, json)));
}

function timesHere(json, after, count) {
  const times = [];
  const spec = compiled(json);
  for (let at = Date.parse(after); times.length < count;) {
    const time = spec.next(at, "");
    if (time === undefined) break;
    times.push((at = time.nextMs) / 1000);
  }
  return times;
}

const service = new GrpcService({ address: options.address ?? "127.0.0.1:7233" });
async function call(method, message) {
  const name = method[0].toUpperCase() + method.slice(1);
  const request = create(requests[`${name}RequestSchema`], { namespace: "default", ...message });
  const bytes = await service.call(method, toBinary(requests[`${name}RequestSchema`], request), {
    timeoutMs: 20_000,
  });
  /** @type {any} Depends on the method. */
  const response = fromBinary(requests[`${name}ResponseSchema`], bytes);
  return response;
}

async function timesThere(json, after, until) {
  const scheduleId = `times-${randomUUID()}`;
  const spec = fromJson(ScheduleSpecSchema, json);
  await call("createSchedule", {
    scheduleId,
    requestId: scheduleId,
    schedule: { spec, state: { paused: true } },
  });
  const timestamp = (ms) => ({ seconds: BigInt(Math.floor(ms / 1000)), nanos: 0 });
  const { startTime } = await call("listScheduleMatchingTimes", {
    scheduleId,
    startTime: timestamp(Date.parse(after)),
    endTime: timestamp(until),
  });
  await call("deleteSchedule", { scheduleId });
  return startTime.map(({ seconds }) => Number(seconds));
}

const recorded = [];
let different = 0;
let rejected = 0;
const count = Number(timeCount);
for (let n = 0; n < Number(specCount); n++) {
  const { spec: json, after } = spec();
  const until = Date.UTC(2090, 0);
  let here;
  let there;
  try {
    here = timesHere(json, after, count);
  } catch (error) {
    here = error.message;
  }
  try {
    // The server lists at most 1,000 times, however far away the end is.
    there = (await timesThere(json, after, until)).slice(0, count);
  } catch (error) {
    there = error.message.replace(/^Invalid schedule spec: /, "");
  }
  if (typeof there === "string") rejected++;
  const kept = typeof here === "string" ? here : here.filter((time) => time * 1000 <= until);
  if (JSON.stringify(kept) !== JSON.stringify(there)) {
    different++;
    console.log(JSON.stringify({ spec: json, after, here: kept, there }));
  }
  recorded.push({ spec: json, after, times: there });
}
service.close();
if (options.record !== undefined) {
  // Times as differences, so that the file is small.
  const lines = recorded.map(({ spec, after, times }) => {
    let last = Date.parse(after) / 1000;
    const steps = typeof times === "string" ? times : times.map((time) => {
      const step = time - last;
      last = time;
      return step;
    });
    return JSON.stringify({ spec, after, steps });
  });
  writeFileSync(options.record, `[\n${lines.join(",\n")}\n]\n`);
}
console.log(
  `${recorded.length} specs, ${rejected} rejected by the server, ${different} with other times (seed ${seed})`,
);
process.exit(different > 0 ? 1 : 0);
