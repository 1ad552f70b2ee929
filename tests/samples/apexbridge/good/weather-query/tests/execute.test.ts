import { format } from "../scripts/helpers/format";

test("a dry day", () => expect(format({ temperature: 31, rain: false })).toBe("31 °C, dry"));
