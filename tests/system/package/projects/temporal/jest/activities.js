const { Context } = require("@temporalio/activity");
const { ApplicationFailure } = require("@temporalio/common");

exports.charge = async function charge(cents) {
  if (cents === 13) throw new RangeError("an unlucky sum");
  if (cents < 0) throw ApplicationFailure.nonRetryable("less than nothing", "Negative");
  return `receipt for ${cents}, attempt ${Context.current().info.attempt}`;
};
