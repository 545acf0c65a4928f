/** Tells values that are nested so deeply that whoever goes through them by recursion falls over. */

/** Far more than anybody writes, and far less than a stack bears. */
const MOST_LEVELS = 500

/** Whether objects and arrays stand inside one another more than `levels` times. */
export const isTooDeep = (value: unknown, levels = MOST_LEVELS): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some(inner => isTooDeep(inner, levels - 1)))
