// Slots of a worker. Fixed sizes are what its worker has; suppliers that decide by the machine's load, or by code, are refused by name.
import type { Duration, WorkerDeploymentVersion } from "../common/mod.ts";
import { refuseOption } from "./runtime_options.ts";

/** How busy the machine may be. */
export interface ResourceBasedTunerOptions {
  /** From 0 to 1. */
  targetMemoryUsage: number;
  /** From 0 to 1. */
  targetCpuUsage: number;
}

/** Shared by the tuners of several workers. */
export class ResourceBasedController {
  private constructor() {}

  /** Throws: slots do not follow the machine's load here. */
  static create(_options: ResourceBasedTunerOptions): ResourceBasedController {
    return refuseResources("ResourceBasedController");
  }
}

/** Bounds of slots that follow the machine's load. */
export interface ResourceBasedSlotOptions {
  minimumSlots?: number;
  maximumSlots?: number;
  rampThrottle?: Duration;
}

interface ResourceBasedSlots {
  workflowTaskSlotOptions?: ResourceBasedSlotOptions;
  activityTaskSlotOptions?: ResourceBasedSlotOptions;
  localActivityTaskSlotOptions?: ResourceBasedSlotOptions;
  nexusTaskSlotOptions?: ResourceBasedSlotOptions;
}
type ByOptions = { tunerOptions: ResourceBasedTunerOptions; controller?: never };
type ByController = { controller: ResourceBasedController; tunerOptions?: never };

/** Slots that follow the machine's load. */
export interface ResourceBasedTuner extends ResourceBasedSlots, ByOptions {}
/** The same, with a controller that several workers share. */
export interface ResourceBasedTunerWithController extends ResourceBasedSlots, ByController {}
/** Slots of one kind that follow the machine's load. */
export type ResourceBasedSlotsForType = ResourceBasedSlotOptions & (ByOptions | ByController) & { type: "resource-based" };

/** So many slots. */
export interface FixedSizeSlotSupplier {
  /** Says that it is one. */
  type: "fixed-size";
  /** How many. */
  numSlots: number;
}

/** For a workflow task. */
export interface WorkflowSlotInfo {
  type: "workflow";
  workflowType: string;
  isSticky: boolean;
}
/** For an activity. */
export interface ActivitySlotInfo {
  type: "activity";
  activityType: string;
}
/** For a local activity. */
export interface LocalActivitySlotInfo {
  type: "local-activity";
  activityType: string;
}
/** For a Nexus operation. */
export interface NexusSlotInfo {
  type: "nexus";
  service: string;
  operation: string;
}
/** What a slot is for. */
export type SlotInfo = WorkflowSlotInfo | ActivitySlotInfo | LocalActivitySlotInfo | NexusSlotInfo;

/** A slot that was given. */
// deno-lint-ignore no-empty-interface
export interface SlotPermit {}

/** Who asks for a slot. */
export interface SlotReserveContext {
  slotType: SlotInfo["type"];
  taskQueue: string;
  workerIdentity: string;
  workerBuildId: string;
  workerDeploymentVersion?: WorkerDeploymentVersion;
  isSticky: boolean;
}
/** What a slot is used for. */
export interface SlotMarkUsedContext<SI extends SlotInfo> {
  slotInfo: SI;
  permit: SlotPermit;
}
/** What a slot was used for. */
export interface SlotReleaseContext<SI extends SlotInfo> {
  slotInfo?: SI;
  permit: SlotPermit;
}
/** Slots that code gives out. */
export interface CustomSlotSupplier<SI extends SlotInfo> {
  type: "custom";
  reserveSlot(ctx: SlotReserveContext, abortSignal: AbortSignal): Promise<SlotPermit>;
  tryReserveSlot(ctx: SlotReserveContext): SlotPermit | null;
  markSlotUsed(ctx: SlotMarkUsedContext<SI>): void;
  releaseSlot(ctx: SlotReleaseContext<SI>): void;
}

/** Where slots of one kind come from. */
export type SlotSupplier<SI extends SlotInfo> = ResourceBasedSlotsForType | FixedSizeSlotSupplier | CustomSlotSupplier<SI>;

/** Where slots of each kind come from. */
export interface TunerHolder {
  workflowTaskSlotSupplier: SlotSupplier<WorkflowSlotInfo>;
  activityTaskSlotSupplier: SlotSupplier<ActivitySlotInfo>;
  localActivityTaskSlotSupplier: SlotSupplier<LocalActivitySlotInfo>;
  nexusTaskSlotSupplier: SlotSupplier<NexusSlotInfo>;
}

/** Where a worker's slots come from. */
export type WorkerTuner = ResourceBasedTuner | ResourceBasedTunerWithController | TunerHolder;

/** How many slots there are of each kind. */
export interface SlotCounts {
  readonly workflowTasks: number;
  readonly activities: number;
  readonly localActivities: number;
}

function refuseResources(what: string): never {
  return refuseOption(
    what,
    "slots do not follow the machine's load here; give maxConcurrentWorkflowTaskExecutions and maxConcurrentActivityTaskExecutions, " +
      'or suppliers of type "fixed-size"',
  );
}

/** The slots of a tuner. Throws a TypeError for one that does not say how many. */
export function slotsOf(tuner: WorkerTuner): SlotCounts {
  if (!("workflowTaskSlotSupplier" in tuner)) return refuseResources("WorkerOptions.tuner with tunerOptions or a controller");
  const count = (name: keyof TunerHolder): number => {
    const supplier = tuner[name] as SlotSupplier<SlotInfo> | undefined;
    if (supplier?.type === "fixed-size") return supplier.numSlots;
    return refuseResources(`WorkerOptions.tuner.${name} of type ${JSON.stringify(supplier?.type)}`);
  };
  count("nexusTaskSlotSupplier");
  return {
    workflowTasks: count("workflowTaskSlotSupplier"),
    activities: count("activityTaskSlotSupplier"),
    localActivities: count("localActivityTaskSlotSupplier"),
  };
}
