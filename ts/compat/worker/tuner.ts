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
  /** At least so many are given out. */
  minimumSlots?: number;
  /** At most so many are given out. */
  maximumSlots?: number;
  /** The time between two slots beyond the minimum. */
  rampThrottle?: Duration;
}

interface ResourceBasedSlots {
  /** For workflow tasks. */
  workflowTaskSlotOptions?: ResourceBasedSlotOptions;
  /** For activities. */
  activityTaskSlotOptions?: ResourceBasedSlotOptions;
  /** For local activities. */
  localActivityTaskSlotOptions?: ResourceBasedSlotOptions;
  /** For Nexus operations. */
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
  /** Says that it is one. */
  type: "workflow";
  /** The workflow's type. */
  workflowType: string;
  /** Whether the task is of a run that is in the worker's cache. */
  isSticky: boolean;
}
/** For an activity. */
export interface ActivitySlotInfo {
  /** Says that it is one. */
  type: "activity";
  /** The activity's type. */
  activityType: string;
}
/** For a local activity. */
export interface LocalActivitySlotInfo {
  /** Says that it is one. */
  type: "local-activity";
  /** The activity's type. */
  activityType: string;
}
/** For a Nexus operation. */
export interface NexusSlotInfo {
  /** Says that it is one. */
  type: "nexus";
  /** The service's name. */
  service: string;
  /** The operation's name. */
  operation: string;
}
/** What a slot is for. */
export type SlotInfo = WorkflowSlotInfo | ActivitySlotInfo | LocalActivitySlotInfo | NexusSlotInfo;

/** A slot that was given. */
// deno-lint-ignore no-empty-interface
export interface SlotPermit {}

/** Who asks for a slot. */
export interface SlotReserveContext {
  /** What it would be used for. */
  slotType: SlotInfo["type"];
  /** The queue that is polled. */
  taskQueue: string;
  /** The worker's identity. */
  workerIdentity: string;
  /** The worker's build id. */
  workerBuildId: string;
  /** The worker's deployment version, where it has one. */
  workerDeploymentVersion?: WorkerDeploymentVersion;
  /** Whether the task is of a run that is in the worker's cache. */
  isSticky: boolean;
}
/** What a slot is used for. */
export interface SlotMarkUsedContext<SI extends SlotInfo> {
  /** What the slot is for. */
  slotInfo: SI;
  /** The slot. */
  permit: SlotPermit;
}
/** What a slot was used for. */
export interface SlotReleaseContext<SI extends SlotInfo> {
  /** What the slot is for. */
  slotInfo?: SI;
  /** The slot. */
  permit: SlotPermit;
}
/** Slots that code gives out. */
export interface CustomSlotSupplier<SI extends SlotInfo> {
  /** Says that it is one. */
  type: "custom";
  /** Resolves when there is a slot; aborted when none is needed any more. */
  reserveSlot(ctx: SlotReserveContext, abortSignal: AbortSignal): Promise<SlotPermit>;
  /** A slot that is free now, or null. */
  tryReserveSlot(ctx: SlotReserveContext): SlotPermit | null;
  /** Called when a task is in the slot. */
  markSlotUsed(ctx: SlotMarkUsedContext<SI>): void;
  /** Called when the slot is free again. */
  releaseSlot(ctx: SlotReleaseContext<SI>): void;
}

/** Where slots of one kind come from. */
export type SlotSupplier<SI extends SlotInfo> = ResourceBasedSlotsForType | FixedSizeSlotSupplier | CustomSlotSupplier<SI>;

/** Where slots of each kind come from. */
export interface TunerHolder {
  /** For workflow tasks. */
  workflowTaskSlotSupplier: SlotSupplier<WorkflowSlotInfo>;
  /** For activities. */
  activityTaskSlotSupplier: SlotSupplier<ActivitySlotInfo>;
  /** For local activities. */
  localActivityTaskSlotSupplier: SlotSupplier<LocalActivitySlotInfo>;
  /** For Nexus operations. */
  nexusTaskSlotSupplier: SlotSupplier<NexusSlotInfo>;
}

/** Where a worker's slots come from. */
export type WorkerTuner = ResourceBasedTuner | ResourceBasedTunerWithController | TunerHolder;

/** How many slots there are of each kind. */
export interface SlotCounts {
  /** For workflow tasks. */
  readonly workflowTasks: number;
  /** For activities. */
  readonly activities: number;
  /** For local activities. */
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

/** The slots of a tuner. Throws a TypeError for one that does not say how many. */
export function slotsOf(tuner: WorkerTuner): SlotCounts {
  if (!("workflowTaskSlotSupplier" in tuner)) return refuseResources("WorkerOptions.tuner with tunerOptions or a controller");
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
