/** Moments as people write them. */

/** Whether `written` is a date, or a date and a time with its zone; a day that its month does not have is none. */
export function isMoment(written: string): boolean {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(written) ?? []
  if (day === undefined || Number.isNaN(Date.parse(written))) return false
  return new Date(day).toISOString().startsWith(day)
}
