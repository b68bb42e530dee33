// Jest: `"setupFiles": ["temporalex/compat/jest"]`. What tests and the files that they load require or import from `@temporalio/*` are the
// modules of "temporalex/compat", loaded by Node outside of Jest's sandbox, once per process: they start threads and hold a core, and Jest
// can neither require ES modules nor load a file twice without making other classes of it.
const { runInThisContext } = require("node:vm");

/** The packages that have a module here, as ts/compat/package_names has them. */
const PACKAGES = ["activity", "client", "common", "envconfig", "nexus", "proto", "testing", "worker", "workflow"];
/** Of "@temporalio/common/lib/", what programs import: Jest's mocks have no patterns. */
const DEEP = [
  ...[
    "activity-options",
    "encoding",
    "errors",
    "failure",
    "interceptors",
    "interfaces",
    "internal-non-workflow",
    "logger",
    "priority",
  ],
  ...[
    "proto-utils",
    "protobufs",
    "retry-policy",
    "search-attributes",
    "time",
    "type-helpers",
    "workflow-handle",
    "workflow-options",
  ],
  ...["data-converter", "failure-converter", "payload-codec", "payload-converter", "protobuf-payload-converters", "types"]
    .map((name) => `converter/${name}`),
].flatMap((name) => [`common/lib/${name}`, `common/lib/${name}.js`]);

// Jest gives its sandbox a `process` and a `module` of its own; "this context" is the one of Node.
const outside = runInThisContext("process").getBuiltinModule("node:module").createRequire(__filename);
outside("temporalex/compat/register");

// For modules that options name by path (data converters): with the transformers of the project, and in the test file's own registry.
runInThisContext("globalThis")[Symbol.for("temporalex.jest-require")] = (path) => require(path);

for (const name of [...PACKAGES, ...DEEP]) {
  const specifier = `@temporalio/${name}`;
  const load = () => outside(specifier);
  // Virtual: the official packages need not be installed.
  jest.mock(specifier, load, { virtual: true });
  jest.unstable_mockModule(specifier, load, { virtual: true });
}
