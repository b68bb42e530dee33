// The activity of the inventory example: asks what an item costs now.

export async function currentPrice(sku: string): Promise<number> {
  return sku.length * 100;
}
