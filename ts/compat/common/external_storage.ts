// External storage of payloads (experimental in the official SDK), as programs configure it. A client or worker that is given one refuses
// it by name: the product has no storage outside of payloads yet.
import { ValueError } from "./errors.ts";
import type { Payload } from "./payload_converters.ts";

/** Where a driver put a payload. */
export class StorageDriverClaim {
  /** What the driver needs to find it again. */
  readonly claimData: Record<string, string>;

  constructor(claimData: Record<string, string>) {
    this.claimData = claimData;
  }
}

interface TargetInfo<K extends string> {
  /** Says which it is. */
  readonly kind: K;
  /** The namespace. */
  readonly namespace: string;
  /** Its id. */
  readonly id?: string;
  /** Its run. */
  readonly runId?: string;
  /** Its type. */
  readonly type?: string;
}
/** The workflow whose payload it is. */
export type StorageDriverWorkflowInfo = TargetInfo<"workflow">;
/** The activity whose payload it is. */
export type StorageDriverActivityInfo = TargetInfo<"activity">;
/** Whose payload it is. */
export type StorageDriverTargetInfo = StorageDriverWorkflowInfo | StorageDriverActivityInfo;

/** Given when payloads are read. */
export interface StorageDriverRetrieveContext {
  /** Gives it up. */
  abortSignal?: AbortSignal;
}
/** Given when payloads are stored. */
export interface StorageDriverStoreContext extends StorageDriverRetrieveContext {
  /** Whose payloads they are. */
  target?: StorageDriverTargetInfo;
}
/** Given when a driver is chosen. */
export type StorageDriverSelectContext = StorageDriverStoreContext;

/** Keeps payloads outside. */
export interface StorageDriver {
  /** Its name, in claims. */
  readonly name: string;
  /** What it is. */
  readonly type: string;
  /** Stores payloads; a claim for each. */
  store(context: StorageDriverStoreContext, payloads: Payload[]): Promise<StorageDriverClaim[]>;
  /** Payloads of claims. */
  retrieve(context: StorageDriverRetrieveContext, claims: StorageDriverClaim[]): Promise<Payload[]>;
}

/** Chooses the driver of a payload; null: it stays where it is. */
export type StorageDriverSelector = (context: StorageDriverSelectContext, payload: Payload) => StorageDriver | null;

/** Which payloads are kept outside, and where. */
export class ExternalStorage {
  /** The drivers. */
  readonly drivers: StorageDriver[];
  /** Chooses among them. */
  readonly driverSelector: StorageDriverSelector;
  /** Payloads of fewer bytes stay. */
  readonly payloadSizeThreshold: number;
  readonly #byName = new Map<string, StorageDriver>();

  constructor(
    { drivers, driverSelector, payloadSizeThreshold = 256 * 1024 }: {
      drivers: StorageDriver[];
      driverSelector?: StorageDriverSelector;
      payloadSizeThreshold?: number;
    },
  ) {
    if (!Array.isArray(drivers) || drivers.length === 0) throw new ValueError("ExternalStorage requires at least one driver");
    if (typeof payloadSizeThreshold !== "number" || !(payloadSizeThreshold >= 0) || payloadSizeThreshold === Infinity) {
      throw new ValueError(
        `ExternalStorage.payloadSizeThreshold must be a non-negative finite number, got ${String(payloadSizeThreshold)}`,
      );
    }
    for (const driver of drivers) {
      if (typeof driver?.name !== "string" || driver.name === "") {
        throw new ValueError("Storage driver 'name' must be a non-empty string");
      }
      if (this.#byName.has(driver.name)) throw new ValueError(`Duplicate storage driver name: '${driver.name}'`);
      this.#byName.set(driver.name, driver);
    }
    if (driverSelector === undefined && drivers.length > 1) {
      throw new ValueError("ExternalStorage.driverSelector is required when more than one driver is registered");
    }
    this.drivers = [...drivers];
    this.driverSelector = driverSelector ?? (() => drivers[0]!);
    this.payloadSizeThreshold = payloadSizeThreshold;
  }

  /** The driver of that name; null where there is none. */
  getDriver(name: string): StorageDriver | null {
    return this.#byName.get(name) ?? null;
  }
}
