export const X = [;
