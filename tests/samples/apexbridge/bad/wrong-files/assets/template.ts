export const template = "code among the assets";
