export const execute = () => ({ output: null });
