// Values of the official packages that are not supported, by package. A `require` of a missing name
// returns undefined, which fails later with a misleading error; ES modules report missing names.
// docs/temporal-exports.md has the reasons.
const ABSENT: { readonly [name: string]: ReadonlySet<string> } = {
  client: new Set(["HealthService", "OperatorService", "TestService", "WorkflowService"]),
  worker: new Set(["startDebugReplayer"]),
};

/** Returns the exports for a `require`; reading an unsupported name throws with advice. */
export function namingAbsent(subpath: string, exports: object): object {
  const name = subpath.replace("compat/", "");
  const absent = Object.hasOwn(ABSENT, name) ? ABSENT[name]! : undefined;
  if (absent === undefined) return exports;
  return new Proxy(exports, {
    get(target, key) {
      if (typeof key === "string" && absent.has(key) && !(key in target)) {
        throw new Error(
          `temporalex/${subpath} has no "${key}", which @temporalio/${name} has: docs/temporal-exports.md of the package says why, and what to ` +
            "use",
        );
      }
      return Reflect.get(target, key);
    },
  });
}
