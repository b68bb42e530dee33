const { condition, defineSignal, proxyActivities, setHandler } = require("@temporalio/workflow");

const { charge } = proxyActivities({
  startToCloseTimeout: "1 minute",
  retry: { maximumAttempts: 1 },
});
exports.approve = defineSignal("approve");

exports.order = async function order(cents) {
  let approved = false;
  setHandler(exports.approve, () => void (approved = true));
  return await condition(() => approved, "3 days") ? await charge(cents) : "not approved";
};
