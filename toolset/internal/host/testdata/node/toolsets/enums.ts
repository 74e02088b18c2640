export enum Color { Red }
export const X = [{ name: 'color', execute: () => Color.Red }];
