// Signals and timers that are declared together (docs/dev/semantics/database.md#names): keys in
// code, snake_case on the wire.
import {
  noreply,
  on,
  parseSignal,
  parseTimer,
  payload,
  receive,
  select,
  signals,
  stop,
  timer,
  timers,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const patrol = signals({
  threatDetected: payload<[enemyId: number]>(),
  standDown: payload(),
  configure: payload<[{ speed: number; alertRange: number }]>({
    description: "how it walks and how far it sees",
  }),
});
const clock = timers("startPatrol", "arrival", "Wait");

const watch = workflow("Watch", async () => {
  const first = await select([
    on(patrol.threatDetected, ([enemyId]) => `enemy ${enemyId}`),
    on(patrol.standDown, () => "home"),
    timer(clock.startPatrol, "5s", () => "walks"),
  ]);
  const { speed } = await receive({ speed: 1 }, [
    on(patrol.configure, ([to], state) => noreply({ ...state, speed: to.speed })),
    on(patrol.standDown, (_, state) => stop(state)),
  ]);
  return `${first}, speed ${speed}`;
});

export const cases: Case[] = [
  {
    name: "signals and timers are keys in code and snake_case on the wire",
    run() {
      deepEqual(Object.values(patrol).map(({ name }) => name), [
        "threat_detected",
        "stand_down",
        "configure",
      ]);
      deepEqual({ ...clock }, { startPatrol: "start_patrol", arrival: "arrival", Wait: "wait" });
      equal(patrol.configure.description, "how it walks and how far it sees");
      deepEqual(Object.values(timers("hpBelow50", "aiURLSeen", "a", "XMLRead")), [
        "hp_below50",
        "ai_url_seen",
        "a",
        "xml_read",
      ]);
      return Promise.resolve();
    },
  },
  {
    name: "names from the wire are parsed back",
    run() {
      deepEqual(parseSignal(patrol, "threat_detected", [42]), {
        key: "threatDetected",
        args: [42],
      });
      deepEqual(parseSignal(patrol, "configure", [{ speed: 2, alertRange: 9 }]), {
        key: "configure",
        args: [{ speed: 2, alertRange: 9 }],
      });
      equal(parseSignal(patrol, "threatDetected", []), undefined);
      equal(parseSignal(patrol, "constructor", []), undefined);
      equal(parseTimer(clock, "start_patrol"), "startPatrol");
      equal(parseTimer(clock, "toString"), undefined);
      return Promise.resolve();
    },
  },
  {
    name: "two keys of one name on the wire are refused, and keys without payload",
    run() {
      throws(
        () => signals({ standDown: payload(), StandDown: payload() }),
        /"standDown" and "StandDown" would both be named "stand_down"/,
      );
      throws(
        () => timers("arrival", "Arrival"),
        /timers "arrival" and "Arrival" would both be named "arrival"/,
      );
      throws(() => signals({ a: {} as ReturnType<typeof payload> }), /signal "a" needs payload/);
      return Promise.resolve();
    },
  },
  {
    name: "typed signals are taken by select and receive, with tuple and struct payloads",
    async run() {
      const d = await drive(watch);
      await d.task();
      d.server.signal("threat_detected", 7);
      await d.task();
      d.server.signal("configure", { speed: 3, alertRange: 1 });
      d.server.signal("stand_down");
      await d.task();
      equal(await d.finish(), "enemy 7, speed 3");
    },
  },
];
