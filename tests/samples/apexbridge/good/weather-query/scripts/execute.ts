import { format } from "./helpers/format";

export async function execute(parameters: { city: string; days?: number }): Promise<unknown> {
  const answer = await fetch(`https://api.weather.example/${encodeURIComponent(parameters.city)}`);
  return { output: format(await answer.json()), status: "success" };
}
