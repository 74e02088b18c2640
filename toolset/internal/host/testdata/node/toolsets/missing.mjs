import 'not-installed/sub'; export const X = [];
