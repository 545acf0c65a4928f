/** Formats of texts: email addresses and times. */

/** The pattern that Supabase Auth uses, which is HTML's. */
const form =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

export const LONGEST_EMAIL_BYTES = 255

/** Whether `text` has the form of an email address of any length. */
export const isEmail = (text: string) => form.test(text)

/**
 * Whether `written` is a date, or a date and time with a zone. Days that do not exist in a month are refused, and so are times whose year in
 * UTC has not four digits: times are compared as texts.
 */
export function isMoment(text: string): boolean {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  if (!/^\d/.test(new Date(text).toISOString())) return false
  return new Date(day).toISOString().startsWith(day)
}
