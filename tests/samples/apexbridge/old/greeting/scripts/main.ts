export const execute = (parameters: { name: string }) => ({ output: `Hello, ${parameters.name}!` });
