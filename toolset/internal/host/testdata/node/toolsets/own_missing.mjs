import './not-there.js'; export const X = [];
