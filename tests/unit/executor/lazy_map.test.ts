// Tables that are made with their first entry behave as Map and Set do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LazyMap, LazySet } from "../../../ts/executor/scheduler/lazy_map.ts";

test("a lazy map works empty, filled, emptied and filled again", () => {
  const map = new LazyMap<string, number>();
  const real = new Map<string, number>();
  const same = () => {
    assert.equal(map.size, real.size);
    assert.deepEqual([...map], [...real]);
    assert.deepEqual([...map.keys()], [...real.keys()]);
    assert.deepEqual([...map.values()], [...real.values()]);
    for (const key of ["a", "b", "c"]) {
      assert.deepEqual([map.has(key), map.get(key)], [real.has(key), real.get(key)]);
    }
  };
  same();
  assert.equal(map.delete("a"), false);
  for (const table of [map, real]) table.set("b", 1).set("a", 2).set("b", 3);
  same();
  assert.equal(map.delete("b"), real.delete("b"));
  same();
  for (const table of [map, real]) table.clear();
  same();
  for (const table of [map, real]) table.set("c", 4);
  same();
  assert.equal(new LazyMap<string, number>().size, 0, "what is put into one is in no other");
});

test("a set keeps the order of its members, also while it is walked over", () => {
  const set = new LazySet<number>();
  assert.deepEqual([...set], []);
  set.add(3).add(1).add(3).add(2);
  assert.deepEqual([set.size, ...set], [3, 3, 1, 2]);
  const seen: number[] = [];
  for (const member of set) {
    seen.push(member);
    set.delete(member);
    if (member === 1) set.add(9);
  }
  assert.deepEqual(seen, [3, 1, 2, 9]);
  assert.equal(set.size, 0);
  set.add(5);
  set.clear();
  assert.deepEqual([...set], []);
});
