// A program of CommonJS that knows of `@temporalio/*` alone, as tsc writes it where nothing is imported late.
const { ApplicationFailure } = require("@temporalio/common");
const { encode } = require("@temporalio/common/lib/encoding");
const { loadClientConnectConfig } = require("@temporalio/envconfig");
const workflow = require("@temporalio/workflow");

const { connectionOptions } = loadClientConnectConfig({
  disableFile: true,
  overrideEnvVars: { TEMPORAL_ADDRESS: "host:1" },
});
const same = workflow.ApplicationFailure.create({ message: "no" }) instanceof ApplicationFailure;
console.log(
  JSON.stringify({ same, bytes: encode("ab").length, address: connectionOptions.address }),
);
