// The activity of the order example.

export async function processOrder(customerId: string, orderNumber: number): Promise<string> {
  return `${customerId}/${orderNumber}`;
}
