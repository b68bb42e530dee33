// Whatever package.json says of Node, every package that `npm ci` installs says it, too: an install
// prints no warning, and one with `engine-strict` works. A package that asks for more is replaced,
// or pinned to a version that does not.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

interface Lock {
  readonly packages: {
    readonly [path: string]: {
      readonly version: string;
      readonly engines?: { readonly node?: string };
    };
  };
}
const json = (file: string) => JSON.parse(readFileSync(file, "utf8"));

type Version = readonly [number, number, number];
const parse = (text: string): Version => {
  const [major = 0, minor = 0, patch = 0] = text.split(".").map((part) =>
    Number.parseInt(part, 10) || 0
  );
  return [major, minor, patch];
};
const less = (a: Version, b: Version) =>
  a[0] !== b[0] ? a[0] < b[0] : a[1] !== b[1] ? a[1] < b[1] : a[2] < b[2];

/** Whether a range as packages write it in `engines` admits a version. */
function admits(range: string, version: Version): boolean {
  return range.split("||").some((all) =>
    all.replace(/([<>=^~]+)\s+/g, "$1").trim().split(/\s+/).every((one) => {
      const [, sign = "", text = ""] = /^([<>=^~]*)v?(.*)$/.exec(one) ?? [];
      const bound = parse(text);
      if (text === "" || text === "*") return true;
      if (sign === ">=") return !less(version, bound);
      if (sign === ">") return less(bound, version);
      if (sign === "<") return less(version, bound);
      if (sign === "<=") return !less(bound, version);
      if (sign === "^") return version[0] === bound[0] && !less(version, bound);
      if (sign === "~") {
        return version[0] === bound[0] && version[1] === bound[1] && !less(version, bound);
      }
      // "20", "20.x", "20.19.0"
      return text.split(".").every((part, i) =>
        /^[xX*]$/.test(part) || Number(part) === version[i]
      );
    })
  );
}

test("ranges are read as npm reads them", () => {
  for (
    const range of [
      ">=20",
      ">= 18",
      "^20.19.0 || >=22.12.0",
      "18 || 20 || >=22",
      "*",
      ">=16 || 14 >=14.17",
      "20.x",
      "~20.19",
      "",
    ]
  ) {
    assert.ok(admits(range, [20, 19, 0]), range);
  }
  for (
    const range of [">=22", "^22.13.0 || >=23.5.0", ">=20.20", "<20", "18", "~20.18", "^18.19.0"]
  ) {
    assert.ok(!admits(range, [20, 19, 0]), range);
  }
});

for (const folder of ["", "tests/system/package/", "tests/system/interop/"]) {
  test(`every package of ${folder}package-lock.json admits the Node of package.json`, () => {
    const own = json("package.json").engines.node as string;
    const oldest = parse(own.replace(/^>=/, ""));
    const wrong = Object.entries((json(`${folder}package-lock.json`) as Lock).packages)
      .filter(([, { engines }]) => engines?.node !== undefined && !admits(engines.node, oldest))
      .map(([path, { version, engines }]) => `${path} ${version} asks for Node ${engines!.node}`);
    assert.deepEqual(wrong, []);
  });
}
