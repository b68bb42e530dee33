// Activities for open.test.ts.
import { activityInfo } from "../../../ts/activity/mod.ts";

export const reserve = (sku: string): Promise<string> => Promise.resolve(`reserved ${sku}`);
export const ship = (reservation: string): string =>
  `${reservation} shipped in attempt ${activityInfo().attempt}`;
