import { test } from "node:test";
import assert from "node:assert/strict";
import { inBase } from "../../../ts/realm/guard/numbers.ts";

test("fractions in every base are formatted like in V8 and read back", () => {
  let seed = 1;
  const random = () => (seed = Math.imul(seed, 48271) >>> 0) / 4294967296;
  for (let i = 0; i < 20_000; i++) {
    const base = 2 + Math.floor(random() * 35);
    const x = (random() - 0.5) * 10 ** Math.floor(random() * 46 - 31);
    if (base === 10) continue;
    assert.equal(inBase(x, base), x.toString(base), `${x} in base ${base}`);
  }
});

test("extreme values are formatted: carries, the smallest numbers, numbers beyond 2 ** 53", () => {
  assert.equal(inBase(-0.5, 2), "-0.1");
  assert.equal(inBase(1 - 2 ** -53, 3), (1 - 2 ** -53).toString(3));
  assert.equal(inBase(5e-324, 2), `0.${"0".repeat(1073)}1`);
  assert.equal(inBase(2 ** 60, 16), "1000000000000000");
  assert.equal(BigInt(`0x${inBase(Number.MAX_VALUE, 16)}`), BigInt(Number.MAX_VALUE));
  for (let base = 2; base <= 36; base++) {
    for (const x of [2 ** 53, 2 ** 52 + 1, 2 ** 51 + 0.5, 0.1, 1 / 3, 1e-300]) {
      if (base !== 10) assert.equal(inBase(x, base), x.toString(base), `${x} in base ${base}`);
    }
  }
});
