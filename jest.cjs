// Jest: `"setupFiles": ["temporalex/compat/jest"]`. What tests and the files that they load require or import from `@temporalio/*` are the
// modules of "temporalex/compat", loaded by Node outside of Jest's sandbox, once per process: they start threads and hold a core, and Jest
// can neither require ES modules nor load a file twice without making other classes of it.
const { runInThisContext } = require("node:vm");

/** The packages that have a module here, as ts/compat/doors has them. */
const PACKAGES = ["activity", "client", "common", "envconfig", "nexus", "proto", "testing", "worker", "workflow"];

// Jest gives its sandbox a `process` and a `module` of its own; "this context" is the one of Node.
const outside = runInThisContext("process").getBuiltinModule("node:module").createRequire(__filename);
outside("temporalex/compat/register");

for (const name of PACKAGES) {
  const specifier = `@temporalio/${name}`;
  const load = () => outside(specifier);
  // Virtual: the official packages need not be installed.
  jest.mock(specifier, load, { virtual: true });
  jest.unstable_mockModule(specifier, load, { virtual: true });
}
