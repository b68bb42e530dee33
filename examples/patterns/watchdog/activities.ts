// Notifies an operator of a silent device.
export function alarm(_device: string): Promise<void> {
  return Promise.resolve();
}
