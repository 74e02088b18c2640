import '@scope/not-installed/sub'; export const X = [];
