export const format = (weather: { temperature: number; rain: boolean }): string =>
  `${weather.temperature} °C, ${weather.rain ? "rain" : "dry"}`;
