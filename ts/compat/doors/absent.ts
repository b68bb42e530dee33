// Values of the official packages that are not here, by package: `require` of a name that is not there gives undefined, and what is then
// said is about something else. (In ES modules the missing name is the error.) docs/temporal-exports.md has the reason for each.
const ABSENT: { readonly [name: string]: ReadonlySet<string> } = {
  client: new Set(["HealthService", "OperatorService", "TestService", "WorkflowService"]),
  worker: new Set(["startDebugReplayer"]),
};

/** What a `require` of a package gives: its exports, where reading a name that is absent throws with what to do. */
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
