// Imported by an activity thread before the user's modules. If one of them imports
// `@temporalio/activity`, activities run with the rules of that package: `Context.current()` works,
// and errors are of the official SDK. Native activities in the same modules have their own context.
import type { ActivityContext } from "../../activity/context.ts";
import type { ActivityDialect } from "../../worker/activities/activity_dialect.ts";

/** Key of that package's context, which exists once the package is loaded. */
const STORAGE = Symbol.for("__temporal_activity_context_storage__");

async function rules(): Promise<ActivityDialect | undefined> {
  if (!(STORAGE in globalThis)) return undefined;
  const [common, { typesOfActivity }, { argumentsRead, temporalActivities }] = await Promise.all([
    import("../../compat/common/mod.ts"),
    import("../../compat/common/type_info.ts"),
    import("../../compat/worker/activity_dialect.ts"),
  ]);
  const { defaultFailureConverter, defaultPayloadConverter, noopMetricMeter } = common;
  const dialects = new WeakMap<object, ActivityDialect>();
  const dialectOf = (context: ActivityContext): ActivityDialect => {
    const { namespace, taskQueue, runId } = context.info;
    // Fields that the worker's logger adds to each line.
    const known = new Map<string, unknown>(
      Object.entries({
        sdkComponent: common.SdkComponent.activity,
        namespace,
        taskQueue,
        workflowRunId: runId,
        isLocal: false,
      }),
    );
    const write =
      (level: "debug" | "info" | "warn" | "error") =>
      (message: string, meta: { [name: string]: unknown } = {}) => {
        // The worker, in another thread, logs lines about activities.
        if (meta["sdkComponent"] !== common.SdkComponent.activity) return;
        const told = Object.entries(meta).filter(([name, value]) =>
          name !== "taskToken" && known.get(name) !== value
        );
        context.logger[level](message, Object.fromEntries(told));
      };
    const [trace, info, warn, error] = [
      write("debug"),
      write("info"),
      write("warn"),
      write("error"),
    ];
    const levels = { TRACE: trace, DEBUG: trace, INFO: info, WARN: warn, ERROR: error };
    const made = temporalActivities({
      namespace,
      taskQueue,
      converter: {
        payloadConverter: defaultPayloadConverter,
        failureConverter: defaultFailureConverter,
        payloadCodecs: [],
      },
      logger: {
        log: (level, message, meta) => levels[level](message, meta),
        trace,
        debug: trace,
        info,
        warn,
        error,
      },
      metricMeter: noopMetricMeter,
      interceptors: [],
      heartbeating: { count: 0 },
      client: () => undefined,
    });
    dialects.set(context, made);
    return made;
  };
  const plain = temporalActivities(
    {
      converter: {
        failureConverter: defaultFailureConverter,
        payloadConverter: defaultPayloadConverter,
      },
    } as never,
  );
  return {
    ...plain,
    // The worker encodes payloads in another thread; here typed values take the same conversion.
    call: (activity) => async (context, args) => {
      const { inputTypes, outputType } = typesOfActivity(activity.run) ?? {};
      const converter = defaultPayloadConverter;
      const typed = inputTypes === undefined ? args : argumentsRead(
        context.info.activityType,
        () =>
          common.arrayFromPayloads(
            converter,
            args.map((arg) => converter.toPayload(arg)),
            undefined,
            inputTypes,
          ),
      );
      const result = await dialectOf(context).call(activity)(context, typed);
      if (outputType === undefined) return result;
      return converter.fromPayload(
        common.toPayloadWithTypeInfo(converter, result, undefined, outputType),
      );
    },
    end: (error, told) => (dialects.get(told) ?? plain).end(error, told),
  };
}

Object.defineProperty(globalThis, Symbol.for("temporalex.activity_thread.rules"), {
  value: rules,
  configurable: true,
});
