export const mark: string = 'typed';
export const other = 'helper' as const;
