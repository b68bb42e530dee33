const { CompositePayloadConverter, defaultPayloadConverter } = require("@temporalio/common");
const { decode, encode } = require("@temporalio/common/lib/encoding");
const { Money } = require("./money");

const money = {
  encodingType: "json/money",
  toPayload: (value) =>
    value instanceof Money
      ? { metadata: { encoding: encode("json/money") }, data: encode(String(value.cents)) }
      : undefined,
  fromPayload: (payload) => new Money(Number(decode(payload.data))),
};
exports.payloadConverter = new CompositePayloadConverter(
  money,
  ...defaultPayloadConverter.converters,
);
