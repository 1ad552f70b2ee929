export function execute(input: { text: string }): { words: number } {
  return { words: input.text.split(/\s+/).filter(Boolean).length };
}
