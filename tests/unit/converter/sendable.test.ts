// Copies for another thread: whatever a value is, a copy comes that structured clone carries, and
// what cannot be copied is named in it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sendable, sendableFields } from "../../../ts/converter/sendable.ts";

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

const circular = () => {
  const error = new RangeError("round");
  error.cause = error;
  return error;
};

class Cart {
  items = 2;
  readonly #secret = 1;
  get price(): number {
    return this.#secret;
  }
  close = () => {};
}

test("values supported by structured clone are copied like structured clone does", () => {
  const shared = { a: 1 };
  const copy = sendable({
    shared,
    again: shared,
    when: new Date(5),
    map: new Map([[1, 2n]]),
    bytes: Uint8Array.of(7),
  }) as {
    shared: object;
    again: object;
  };
  assert.deepEqual(copy, {
    shared,
    again: shared,
    when: new Date(5),
    map: new Map([[1, 2n]]),
    bytes: Uint8Array.of(7),
  });
  assert.equal(copy.shared, copy.again);
  const error = sendable(new TypeError("no", { cause: new Error("why") })) as Error;
  assert.deepEqual([error.name, error.message, (error.cause as Error).message], [
    "TypeError",
    "no",
    "why",
  ]);
});

test("unsupported values are reported by path", () => {
  const circle: { [name: string]: unknown } = { f() {} };
  circle["self"] = circle;
  const getter = {
    ok: 1,
    get bad(): never {
      throw new Error("not now");
    },
  };
  const cases: readonly (readonly [unknown, unknown])[] = [
    [() => 1, "[function]"],
    [Symbol("s"), "Symbol(s)"],
    [{ a: 1, f() {}, s: Symbol("s") }, { a: 1, f: "[function]", s: "Symbol(s)" }],
    [[1, () => {}, [() => {}]], [1, "[function]", ["[function]"]]],
    [circle, { f: "[function]", self: "[circular]" }],
    [getter, { ok: 1, bad: "[unreadable: not now]" }],
    [new Proxy({ a: 1, f() {} }, {}), { a: 1, f: "[function]" }],
    [{ gone: revoked() }, { gone: sendable(revoked()) }],
    [new Cart(), { items: 2, close: "[function]" }],
    [{ p: Promise.resolve(1), w: new WeakMap() }, { p: "[Promise]", w: "[WeakMap]" }],
    [new Map<unknown, unknown>([["f", () => {}]]), new Map([["f", "[function]"]])],
    [new Set<unknown>([() => {}, 1]), new Set<unknown>(["[function]", 1])],
    [{ when: new Date(3), bytes: Uint8Array.of(1), f() {} }, {
      when: new Date(3),
      bytes: Uint8Array.of(1),
      f: "[function]",
    }],
  ];
  for (const [value, right] of cases) {
    const copy = sendable(value);
    assert.deepEqual(copy, right);
    assert.doesNotThrow(() => structuredClone(copy));
  }
  assert.match(String(sendable(revoked())), /^\[unreadable: /);
});

test("an error with cyclic causes is copied up to the repetition", () => {
  const copy = sendable({ error: circular(), f() {} }) as { error: Error };
  assert.deepEqual([copy.error.name, copy.error.message, copy.error.cause], [
    "RangeError",
    "round",
    "[circular]",
  ]);
  assert.match(copy.error.stack!, /RangeError: round/);
  // Deno clones an error in its own causes; V8 in Node does not.
  const cloned = structuredClone(sendable(circular())) as Error;
  assert.ok(cloned.cause === "[circular]" || cloned.cause === cloned);
});

test("depth and size are bounded", () => {
  let deep: unknown = () => {};
  for (let i = 0; i < 50_000; i++) deep = { deep };
  assert.match(JSON.stringify(sendable(deep)), /\[omitted: the value is too large\]/);
  const endless = (): object => new Proxy({}, handlers);
  const handlers: ProxyHandler<object> = {
    ownKeys: () => ["a", "b"],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    get: endless,
  };
  assert.match(JSON.stringify(sendable(endless())), /\[omitted: the value is too large\]/);
});

test("fields of a log line stay fields", () => {
  const plain = { id: "a", n: 1, big: 2n, none: undefined };
  assert.equal(sendableFields(plain), plain);
  assert.deepEqual(sendableFields({ id: "a", f() {} }), { id: "a", f: "[function]" });
  const hostile = {
    get id(): never {
      throw new Error("no");
    },
  };
  assert.deepEqual(sendableFields(hostile), { id: "[unreadable: no]" });
  assert.deepEqual(Object.keys(sendableFields(revoked() as { [name: string]: unknown })), [
    "fields",
  ]);
});
