/** Tells values that are nested so deeply that whoever goes through them by recursion falls over. */

/** A little more than the metadata of a user may have, and far less than a stack bears. */
export const MOST_LEVELS = 1100

/** Whether objects and arrays stand inside one another more than `levels` times. */
export const isTooDeep = (value: unknown, levels = MOST_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(inner => isTooDeep(inner, levels - 1)))
