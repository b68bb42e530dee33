// External storage of payloads (experimental in the official SDK). Clients and workers reject it by
// name, because it is not supported yet.
import { ValueError } from "./errors.ts";
import type { Payload } from "./payload_converters.ts";

/** Location of a payload in a driver. */
export class StorageDriverClaim {
  /** Data for the driver to find the payload. */
  readonly claimData: Record<string, string>;

  constructor(claimData: Record<string, string>) {
    this.claimData = claimData;
  }
}

interface TargetInfo<K extends string> {
  /** Discriminator. */
  readonly kind: K;
  readonly namespace: string;
  readonly id?: string;
  readonly runId?: string;
  readonly type?: string;
}
/** The workflow of a payload. */
export type StorageDriverWorkflowInfo = TargetInfo<"workflow">;
/** The activity of a payload. */
export type StorageDriverActivityInfo = TargetInfo<"activity">;
/** The owner of a payload. */
export type StorageDriverTargetInfo = StorageDriverWorkflowInfo | StorageDriverActivityInfo;

/** Context of retrieval. */
export interface StorageDriverRetrieveContext {
  /** Cancels the operation. */
  abortSignal?: AbortSignal;
}
/** Context of storage. */
export interface StorageDriverStoreContext extends StorageDriverRetrieveContext {
  /** The owner of the payloads. */
  target?: StorageDriverTargetInfo;
}
/** Context of driver selection. */
export type StorageDriverSelectContext = StorageDriverStoreContext;

/** Stores payloads externally. */
export interface StorageDriver {
  /** Name in claims. */
  readonly name: string;
  readonly type: string;
  /** Stores payloads; returns a claim for each. */
  store(context: StorageDriverStoreContext, payloads: Payload[]): Promise<StorageDriverClaim[]>;
  /** Returns the payloads of claims. */
  retrieve(context: StorageDriverRetrieveContext, claims: StorageDriverClaim[]): Promise<Payload[]>;
}

/** Selects the driver of a payload; null: not stored externally. */
export type StorageDriverSelector = (
  context: StorageDriverSelectContext,
  payload: Payload,
) => StorageDriver | null;

/** Configuration of external storage. */
export class ExternalStorage {
  readonly drivers: StorageDriver[];
  /** Selects a driver. */
  readonly driverSelector: StorageDriverSelector;
  /** Minimum size in bytes of stored payloads. */
  readonly payloadSizeThreshold: number;
  readonly #byName = new Map<string, StorageDriver>();

  constructor(
    { drivers, driverSelector, payloadSizeThreshold = 256 * 1024 }: {
      drivers: StorageDriver[];
      driverSelector?: StorageDriverSelector;
      payloadSizeThreshold?: number;
    },
  ) {
    if (!Array.isArray(drivers) || drivers.length === 0) {
      throw new ValueError("ExternalStorage requires at least one driver");
    }
    if (
      typeof payloadSizeThreshold !== "number" || !(payloadSizeThreshold >= 0) ||
      payloadSizeThreshold === Infinity
    ) {
      throw new ValueError(
        `ExternalStorage.payloadSizeThreshold must be a non-negative finite number, got ${
          String(payloadSizeThreshold)
        }`,
      );
    }
    for (const driver of drivers) {
      if (typeof driver?.name !== "string" || driver.name === "") {
        throw new ValueError("Storage driver 'name' must be a non-empty string");
      }
      if (this.#byName.has(driver.name)) {
        throw new ValueError(`Duplicate storage driver name: '${driver.name}'`);
      }
      this.#byName.set(driver.name, driver);
    }
    if (driverSelector === undefined && drivers.length > 1) {
      throw new ValueError(
        "ExternalStorage.driverSelector is required when more than one driver is registered",
      );
    }
    this.drivers = [...drivers];
    this.driverSelector = driverSelector ?? (() => drivers[0]!);
    this.payloadSizeThreshold = payloadSizeThreshold;
  }

  /** Returns the driver of that name; null if unknown. */
  getDriver(name: string): StorageDriver | null {
    return this.#byName.get(name) ?? null;
  }
}
