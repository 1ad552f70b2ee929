export async function execute(parameters: { amount: number; rate: number }): Promise<unknown> {
  return { output: parameters.amount * parameters.rate };
}
