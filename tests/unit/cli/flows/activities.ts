// Activities for the tests of the command line.
export function charge(customer: string, items: string[]): Promise<string> {
  return Promise.resolve(`${customer} pays for ${items.join(" and ")}`);
}
