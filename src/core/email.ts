/** The form of e-mail addresses. */

/** The form that Supabase Auth asks for, which is HTML's. */
const form =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

export const LONGEST_EMAIL_BYTES = 255

/** Whether `text` has the form of an e-mail address, however long it is. */
export const isEmail = (text: string) => form.test(text)
