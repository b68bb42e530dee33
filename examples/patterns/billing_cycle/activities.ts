// Charges a customer for one period.
export function chargePeriod(_customer: string, _period: number): Promise<void> {
  return Promise.resolve();
}
