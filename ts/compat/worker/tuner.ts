// Slots of a worker. Fixed sizes are supported; suppliers that depend on the machine's load, or on
// code, are rejected by name.
import type { Duration, WorkerDeploymentVersion } from "../common/mod.ts";
import { refuseOption } from "./runtime_options.ts";

/** Targets of the machine's load. */
export interface ResourceBasedTunerOptions {
  /** From 0 to 1. */
  targetMemoryUsage: number;
  /** From 0 to 1. */
  targetCpuUsage: number;
}

/** Shared by the tuners of several workers. */
export class ResourceBasedController {
  private constructor() {}

  /** Throws: load-dependent slots are not supported. */
  static create(_options: ResourceBasedTunerOptions): ResourceBasedController {
    return refuseResources("ResourceBasedController");
  }
}

/** Limits of load-dependent slots. */
export interface ResourceBasedSlotOptions {
  minimumSlots?: number;
  maximumSlots?: number;
  /** Interval between slots above the minimum. */
  rampThrottle?: Duration;
}

interface ResourceBasedSlots {
  workflowTaskSlotOptions?: ResourceBasedSlotOptions;
  activityTaskSlotOptions?: ResourceBasedSlotOptions;
  localActivityTaskSlotOptions?: ResourceBasedSlotOptions;
  /** For Nexus operations. */
  nexusTaskSlotOptions?: ResourceBasedSlotOptions;
}
type ByOptions = { tunerOptions: ResourceBasedTunerOptions; controller?: never };
type ByController = { controller: ResourceBasedController; tunerOptions?: never };

/** Load-dependent slots. */
export interface ResourceBasedTuner extends ResourceBasedSlots, ByOptions {}
/** Load-dependent slots, with a controller shared by several workers. */
export interface ResourceBasedTunerWithController extends ResourceBasedSlots, ByController {}
/** Load-dependent slots of one kind. */
export type ResourceBasedSlotsForType = ResourceBasedSlotOptions & (ByOptions | ByController) & {
  type: "resource-based";
};

/** A fixed number of slots. */
export interface FixedSizeSlotSupplier {
  /** Discriminator. */
  type: "fixed-size";
  numSlots: number;
}

/** A slot for a workflow task. */
export interface WorkflowSlotInfo {
  /** Discriminator. */
  type: "workflow";
  workflowType: string;
  /** True if the run is in the worker's cache. */
  isSticky: boolean;
}
/** A slot for an activity. */
export interface ActivitySlotInfo {
  /** Discriminator. */
  type: "activity";
  activityType: string;
}
/** A slot for a local activity. */
export interface LocalActivitySlotInfo {
  /** Discriminator. */
  type: "local-activity";
  activityType: string;
}
/** A slot for a Nexus operation. */
export interface NexusSlotInfo {
  /** Discriminator. */
  type: "nexus";
  service: string;
  operation: string;
}
/** Use of a slot. */
export type SlotInfo = WorkflowSlotInfo | ActivitySlotInfo | LocalActivitySlotInfo | NexusSlotInfo;

/** A reserved slot. */
// deno-lint-ignore no-empty-interface
export interface SlotPermit {}

/** Context of a slot reservation. */
export interface SlotReserveContext {
  /** Kind of the slot. */
  slotType: SlotInfo["type"];
  /** The polled queue. */
  taskQueue: string;
  workerIdentity: string;
  workerBuildId: string;
  workerDeploymentVersion?: WorkerDeploymentVersion;
  /** True if the run is in the worker's cache. */
  isSticky: boolean;
}
/** Context of a slot in use. */
export interface SlotMarkUsedContext<SI extends SlotInfo> {
  slotInfo: SI;
  permit: SlotPermit;
}
/** Context of a released slot. */
export interface SlotReleaseContext<SI extends SlotInfo> {
  /** Use of the slot. */
  slotInfo?: SI;
  permit: SlotPermit;
}
/** Slots supplied by code. */
export interface CustomSlotSupplier<SI extends SlotInfo> {
  /** Discriminator. */
  type: "custom";
  /** Resolves when a slot is available; aborted when no slot is needed. */
  reserveSlot(ctx: SlotReserveContext, abortSignal: AbortSignal): Promise<SlotPermit>;
  /** Returns an available slot, or null. */
  tryReserveSlot(ctx: SlotReserveContext): SlotPermit | null;
  /** Called when a task uses the slot. */
  markSlotUsed(ctx: SlotMarkUsedContext<SI>): void;
  /** Called when the slot is released. */
  releaseSlot(ctx: SlotReleaseContext<SI>): void;
}

/** Supplier of slots of one kind. */
export type SlotSupplier<SI extends SlotInfo> =
  | ResourceBasedSlotsForType
  | FixedSizeSlotSupplier
  | CustomSlotSupplier<SI>;

/** Suppliers of each kind. */
export interface TunerHolder {
  workflowTaskSlotSupplier: SlotSupplier<WorkflowSlotInfo>;
  activityTaskSlotSupplier: SlotSupplier<ActivitySlotInfo>;
  localActivityTaskSlotSupplier: SlotSupplier<LocalActivitySlotInfo>;
  /** For Nexus operations. */
  nexusTaskSlotSupplier: SlotSupplier<NexusSlotInfo>;
}

/** Suppliers of a worker's slots. */
export type WorkerTuner = ResourceBasedTuner | ResourceBasedTunerWithController | TunerHolder;

/** Number of slots of each kind. */
export interface SlotCounts {
  readonly workflowTasks: number;
  readonly activities: number;
  readonly localActivities: number;
  /** For Nexus requests. */
  readonly nexusTasks: number;
}

function refuseResources(what: string): never {
  return refuseOption(
    what,
    "slots do not follow the machine's load here; give maxConcurrentWorkflowTaskExecutions and maxConcurrentActivityTaskExecutions, " +
      'or suppliers of type "fixed-size"',
  );
}

/** Returns the slots of a tuner. Throws a TypeError for tuners without fixed numbers. */
export function countSlots(tuner: WorkerTuner): SlotCounts {
  if (!("workflowTaskSlotSupplier" in tuner)) {
    return refuseResources("WorkerOptions.tuner with tunerOptions or a controller");
  }
  const count = (name: keyof TunerHolder): number => {
    const supplier = tuner[name] as SlotSupplier<SlotInfo> | undefined;
    if (supplier?.type === "fixed-size") return supplier.numSlots;
    return refuseResources(`WorkerOptions.tuner.${name} of type ${JSON.stringify(supplier?.type)}`);
  };
  return {
    workflowTasks: count("workflowTaskSlotSupplier"),
    activities: count("activityTaskSlotSupplier"),
    localActivities: count("localActivityTaskSlotSupplier"),
    nexusTasks: count("nexusTaskSlotSupplier"),
  };
}
