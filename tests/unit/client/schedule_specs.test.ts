// Specs of schedules: their form on the wire and back, and what is rejected with the name of the
// field.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CalendarSpec, ScheduleSpec } from "../../../ts/client/mod.ts";
import { decodeSpec, encodeSpec } from "../../../ts/client/schedules/spec.ts";
import { ScheduleSpecSchema } from "../../../ts/messages/generated/temporal/api/schedule/v1/message_pb.ts";

/** A spec over the wire and back. */
function there(spec: ScheduleSpec) {
  const bytes = toBinary(ScheduleSpecSchema, create(ScheduleSpecSchema, encodeSpec(spec)));
  return decodeSpec(fromBinary(ScheduleSpecSchema, bytes));
}
const one = <T>(value: T) => [{ start: value, end: value, step: 1 }];

test("calendars: defaults, values, ranges, lists and stars", () => {
  const all = {
    dayOfMonth: [{ start: 1, end: 31, step: 1 }],
    month: [{ start: "JANUARY", end: "DECEMBER", step: 1 }],
    year: [],
    dayOfWeek: [{ start: "SUNDAY", end: "SATURDAY", step: 1 }],
  };
  const back = (calendar: CalendarSpec) => there({ calendars: [calendar] }).calendars[0]!;
  assert.deepEqual(back({}), { second: one(0), minute: one(0), hour: one(0), ...all });
  assert.deepEqual(
    back({
      hour: 6,
      dayOfWeek: { start: "MONDAY", end: "FRIDAY" },
      month: "MARCH",
      comment: "work",
    }),
    {
      second: one(0),
      minute: one(0),
      hour: one(6),
      ...all,
      month: one("MARCH"),
      dayOfWeek: [{ start: "MONDAY", end: "FRIDAY", step: 1 }],
      comment: "work",
    },
  );
  const many = back({
    minute: "*",
    second: [0, { start: 10, end: 30, step: 10 }],
    year: [2030, { start: 2032, end: 2034 }],
  });
  assert.deepEqual(many.minute, [{ start: 0, end: 59, step: 1 }]);
  assert.deepEqual(many.second, [...one(0), { start: 10, end: 30, step: 10 }]);
  assert.deepEqual(many.year, [...one(2030), { start: 2032, end: 2034, step: 1 }]);
  assert.deepEqual(back({ month: "march" as "MARCH" }).month, one("MARCH"), "names in any case");
});

test("months and days have their English names, counted as the service counts them", () => {
  const name = (style: "month" | "weekday", date: number) =>
    new Date(date).toLocaleDateString("en", { [style]: "long", timeZone: "UTC" }).toUpperCase();
  for (let month = 1; month <= 12; month++) {
    const wanted = name("month", Date.UTC(2026, month - 1, 15)) as "MAY";
    assert.deepEqual(
      encodeSpec({ calendars: [{ month: wanted }] }).structuredCalendar![0]!.month,
      one(month),
      wanted,
    );
  }
  // The fourth of January 2026 was a Sunday.
  for (let day = 0; day <= 6; day++) {
    const wanted = name("weekday", Date.UTC(2026, 0, 4 + day)) as "FRIDAY";
    assert.deepEqual(
      encodeSpec({ calendars: [{ dayOfWeek: wanted }] }).structuredCalendar![0]!.dayOfWeek,
      one(day),
      wanted,
    );
  }
});

test("the spec of a description can be used to create an equal schedule", () => {
  const spec: ScheduleSpec = {
    calendars: [{ hour: [1, 2], dayOfMonth: { start: 1, end: 20, step: 5 } }, {}],
    intervals: [{ every: "90m", offset: "5m" }],
    skip: [{ hour: "*", minute: "*", second: "*", dayOfWeek: "SUNDAY" }],
    startAt: new Date("2030-01-01T00:00:00.250Z"),
    endAt: new Date("2031-01-01T00:00:00Z"),
    jitter: "30s",
    timezone: "Europe/Berlin",
  };
  const described = there(spec);
  assert.deepEqual(described.intervals, [{ every: 5_400_000, offset: 300_000 }]);
  assert.deepEqual([described.startAt, described.endAt, described.jitter, described.timezone], [
    spec.startAt,
    spec.endAt,
    30_000,
    "Europe/Berlin",
  ]);
  assert.deepEqual(there(described), described);
  assert.deepEqual(there({ cronExpressions: ["0 12 * * MON-FRI"] }).cronExpressions, [
    "0 12 * * MON-FRI",
  ]);
});

test("an invalid spec is rejected with the name of the field", () => {
  const refused = (spec: unknown, words: RegExp) =>
    assert.throws(() => encodeSpec(spec as ScheduleSpec), words);
  refused(
    { calendars: [{ hour: 24 }] },
    /spec\.calendars\[0\]\.hour must be an integer from 0 to 23, not 24/,
  );
  refused(
    { calendars: [{}, { minute: [0, 1.5] }] },
    /spec\.calendars\[1\]\.minute\[1\] must be an integer from 0 to 59, not 1\.5/,
  );
  refused({ calendars: [{ month: "MAI" }] }, /month must be one of JANUARY, FEBRUARY/);
  refused(
    { calendars: [{ dayOfWeek: { start: "FRIDAY", end: "MONDAY" } }] },
    /ends at MONDAY, before its start FRIDAY; write two ranges/,
  );
  refused(
    { calendars: [{ hour: { start: 1, end: 5, step: 0 } }] },
    /step must be an integer of at least 1, not 0/,
  );
  refused({ calendars: [{ hour: [] }] }, /empty array, which matches nothing/);
  refused({ calendars: [{ hours: 3 }] }, /has no option "hours"; did you mean hour\?/);
  refused(
    { intervals: [{ every: "1h", ofset: "1m" }] },
    /spec\.intervals\[0\] has no option "ofset"; did you mean offset\?/,
  );
  refused({ calendars: [{ dayOfMonth: 0 }] }, /from 1 to 31/);
  refused({ intervals: [{ every: "500ms" }] }, /at least 1 second, not 500/);
  refused({ intervals: [{ every: "1h", offset: "1h" }] }, /must be less than `every`/);
  refused({ intervals: [{ every: "soon" }] }, /is not a duration/);
  refused({ startAt: new Date(NaN) }, /spec\.startAt is not a valid Date/);
  refused({ startAt: new Date(2), endAt: new Date(1) }, /endAt must not be before/);
  refused(undefined, /needs a spec/);
});
