// The times of schedules: compared with a search that tries every minute, at clock changes, and
// for texts that servers reject.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { canonicalSpec } from "../../../../ts/engine/schedules/canonical.ts";
import { CompiledSpec } from "../../../../ts/engine/schedules/spec.ts";
import { ScheduleSpecSchema } from "../../../../ts/messages/generated/temporal/api/schedule/v1/message_pb.ts";
import { withSeed } from "../../../support/seed.ts";

const compiled = (spec: JsonValue) =>
  new CompiledSpec(canonicalSpec(fromJson(ScheduleSpecSchema, spec)));

function times(spec: JsonValue, after: string, count: number, seed = ""): string[] {
  const found: string[] = [];
  const compiledSpec = compiled(spec);
  for (let at = Date.parse(after); found.length < count;) {
    const time = compiledSpec.next(at, seed);
    if (time === undefined) break;
    at = time.nextMs;
    found.push(new Date(at).toISOString().replace(".000Z", "Z"));
  }
  return found;
}

test("a time that a clock change skips is skipped, and one that occurs twice matches twice", () => {
  const daily = { calendar: [{ hour: "2", minute: "30" }], timezoneName: "Europe/Berlin" };
  assert.deepEqual(times(daily, "2026-03-27T12:00:00Z", 3), [
    "2026-03-28T01:30:00Z",
    "2026-03-30T00:30:00Z",
    "2026-03-31T00:30:00Z",
  ]);
  assert.deepEqual(times(daily, "2026-10-24T12:00:00Z", 3), [
    "2026-10-25T00:30:00Z",
    "2026-10-25T01:30:00Z",
    "2026-10-26T01:30:00Z",
  ]);
});

test("a day without a midnight keeps its weekday", () => {
  // In Chile clocks change from Saturday 24:00 to Sunday 01:00.
  const sundays = { cronString: ["0 5 * * SUN"], timezoneName: "America/Santiago" };
  assert.deepEqual(times(sundays, "2026-08-31T00:00:00Z", 2), [
    "2026-09-06T08:00:00Z",
    "2026-09-13T08:00:00Z",
  ]);
  const midnight = { cronString: ["0 0 * * *"], timezoneName: "America/Santiago" };
  assert.deepEqual(times(midnight, "2026-09-05T12:00:00Z", 1), ["2026-09-07T03:00:00Z"]);
});

test("cron strings may have names, steps, seconds, years, a comment and a time zone", () => {
  const cases: readonly (readonly [cron: string, times: readonly string[]])[] = [
    ["0 6 * * MON-FRI # work", [
      "2026-01-01T06:00:00Z",
      "2026-01-02T06:00:00Z",
      "2026-01-05T06:00:00Z",
    ]],
    ["15,45 */12 * jan,feb 7", [
      "2026-01-04T00:15:00Z",
      "2026-01-04T00:45:00Z",
      "2026-01-04T12:15:00Z",
    ]],
    ["30 0 0 1 1 * 2027-2030/2", ["2027-01-01T00:00:30Z", "2029-01-01T00:00:30Z"]],
    ["0 0 29 2 * 2028", ["2028-02-29T00:00:00Z"]],
    ["CRON_TZ=Asia/Tokyo 0 9 * * *", ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"]],
    ["@weekly", ["2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"]],
    ["@every 90m/5m", ["2026-01-01T00:05:00Z", "2026-01-01T01:35:00Z"]],
  ];
  for (const [cron, expected] of cases) {
    const found = times({ cronString: [cron] }, "2026-01-01T00:00:00Z", expected.length);
    assert.deepEqual(found, expected, cron);
  }
});

test("start, end and exclusions limit the times; jitter moves them by less than their distance", () => {
  const spec = {
    interval: [{ interval: "3600s" }],
    excludeCalendar: [{ hour: "1-22", minute: "*", second: "*" }],
    startTime: "2026-05-01T00:00:00Z",
    endTime: "2026-05-02T00:00:00Z",
  };
  assert.deepEqual(times(spec, "2020-01-01T00:00:00Z", 10), [
    "2026-05-01T00:00:00Z",
    "2026-05-01T23:00:00Z",
    "2026-05-02T00:00:00Z",
  ]);
  const jittered = { interval: [{ interval: "60s" }], jitter: "3600s" };
  const found = times(jittered, "2026-01-01T00:00:00Z", 500, "seed");
  assert.deepEqual(found, times(jittered, "2026-01-01T00:00:00Z", 500, "seed"));
  assert.notDeepEqual(found, times(jittered, "2026-01-01T00:00:00Z", 500, "other"));
  found.forEach((time, i) => {
    const late = Date.parse(time) - Date.parse("2026-01-01T00:00:00Z") - (i + 1) * 60_000;
    assert.ok(late >= 0 && late <= 60_000, time);
  });
  assert.ok(new Set(found.map((time) => Date.parse(time) % 60_000)).size > 400);
});

test("a spec whose times are all excluded ends", () => {
  const spec = {
    interval: [{ interval: "1s" }],
    excludeCalendar: [{ hour: "*", minute: "*", second: "*" }],
  };
  assert.deepEqual(times(spec, "2026-01-01T00:00:00Z", 1), []);
  assert.deepEqual(times({ cronString: ["0 0 30 2 *"] }, "2026-01-01T00:00:00Z", 1), []);
});

test("a search after a later one finds the earlier times", () => {
  const spec = compiled({ cronString: ["0 0 29 2 *", "0 0 30 2 *", "0 6 * * *"] });
  const next = (after: string) => new Date(spec.next(Date.parse(after), "")!.nextMs).toISOString();
  for (let round = 0; round < 2; round++) {
    assert.equal(next("2028-02-28T06:00:00Z"), "2028-02-29T00:00:00.000Z");
    assert.equal(next("2028-02-29T00:00:00Z"), "2028-02-29T06:00:00.000Z");
    assert.equal(next("2030-01-01T06:00:00Z"), "2030-01-02T06:00:00.000Z");
    assert.equal(next("2024-02-28T07:00:00Z"), "2024-02-29T00:00:00.000Z");
  }
});

test("an invalid spec is rejected with the field", () => {
  const cases: readonly (readonly [spec: JsonValue, message: RegExp])[] = [
    [{ calendar: [{ hour: "24" }] }, /^Error: Hour is not in range \[0-23\]$/],
    [{ calendar: [{ minute: "5-3" }] }, /Minute End is before Start or not in range \[0-59\]/],
    [{ calendar: [{ second: "1/2/3" }] }, /Second has too many slashes/],
    [{ calendar: [{ month: "1/" }] }, /Month missing step value/],
    [{ calendar: [{ dayOfWeek: "mon-tue-wed" }] }, /DayOfWeek has too many dashes/],
    [
      { structuredCalendar: [{ dayOfMonth: [{ start: 0 }] }] },
      /invalid calendar spec: DayOfMonth Start/,
    ],
    [{ cronString: ["* * *"] }, /CronString does not have 5-7 fields/],
    [{ cronString: ["CRON_TZ=UTC"] }, /CronString has time zone but missing fields/],
    [{ cronString: ["@every soon"] }, /invalid duration "soon"/],
    [{ cronString: ["TZ=UTC @daily", "TZ=Asia/Tokyo @daily"] }, /conflicting timezone names/],
    [{ interval: [{ interval: "0.5s" }] }, /interval is too small/],
    [{ interval: [{ interval: "5s", phase: "5s" }] }, /phase cannot be greater than Interval/],
    [{ timezoneName: "Europe/Atlantis" }, /unknown time zone Europe\/Atlantis/],
    [{ timezoneName: "+01:00" }, /unknown time zone \+01:00/],
  ];
  for (const [spec, message] of cases) assert.throws(() => compiled(spec), message);
});

test("UTC stays known after more zones than are remembered", () => {
  for (const timezoneName of Intl.supportedValuesOf("timeZone").slice(0, 150)) {
    compiled({ cronString: ["@daily"], timezoneName });
  }
  assert.deepEqual(times({ cronString: ["@daily"] }, "2026-01-01T00:00:00Z", 1), [
    "2026-01-02T00:00:00Z",
  ]);
});

test("random calendars match the same minutes as a search through all of them", async () => {
  await withSeed((seed) => {
    let state = seed;
    const below = (
      n: number,
    ) => (state = Math.imul(state, 48_271) % 0x7fffffff, Math.abs(state) % n);
    const zones = ["America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tehran"];
    for (let n = 0; n < 3; n++) {
      const timezoneName = zones[below(zones.length)]!;
      const spec = {
        calendar: [{
          minute: `*/${1 + below(40)}`,
          hour: `${below(4)}-${4 + below(20)}`,
          dayOfWeek: `${below(3)}-${3 + below(4)}`,
        }],
        timezoneName,
      };
      const start = Date.UTC(2005 + below(30), below(12), 1 + below(28));
      const end = start + 20 * 86_400_000;
      const [minute, hour, day] = [
        spec.calendar[0]!.minute,
        spec.calendar[0]!.hour,
        spec.calendar[0]!.dayOfWeek,
      ];
      const format = new Intl.DateTimeFormat("en-US", {
        timeZone: timezoneName,
        hourCycle: "h23",
        weekday: "short",
        hour: "numeric",
        minute: "numeric",
      });
      const isIn = (value: number, range: string) => {
        const [low, high] = range.split("-").map(Number);
        return value >= low! && value <= high!;
      };
      const expected: string[] = [];
      for (let at = start + 60_000; at <= end; at += 60_000) {
        const part = Object.fromEntries(
          format.formatToParts(at).map(({ type, value }) => [type, value]),
        );
        const weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"].indexOf(part["weekday"]!);
        if (Number(part["minute"]) % Number(minute.slice(2)) !== 0) continue;
        if (isIn(Number(part["hour"]), hour) && isIn(weekday, day)) {
          expected.push(new Date(at).toISOString().replace(".000Z", "Z"));
        }
      }
      const found = times(spec, new Date(start).toISOString(), expected.length + 1);
      assert.deepEqual(found.slice(0, expected.length), expected, JSON.stringify(spec));
      assert.ok(Date.parse(found.at(-1)!) > end);
    }
    return Promise.resolve();
  });
});
