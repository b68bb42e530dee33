// A ledger that books payments.

export async function bookPayment(payment: string, cents: number): Promise<string> {
  return `${payment}: ${cents}`;
}
