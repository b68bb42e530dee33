// A rental of cars.
export async function handOver(_car: string): Promise<void> {}

export async function fetchBack(_car: string): Promise<void> {}

export async function sendInvoice(_car: string): Promise<void> {}
