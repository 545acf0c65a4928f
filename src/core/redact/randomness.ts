/** Tells what chance has written from what people write. */

/** Whether there is more of digits and mixed letters in it than in words that are joined by dashes. */
export function looksRandom(text: string): boolean {
  if (/[a-z][A-Z]|[A-Z]{2}[a-z]/.test(text)) return true
  if ((text.match(/\d/g)?.length ?? 0) >= 8) return true
  return text.split(/[^A-Za-z0-9]/).some(part => part.length >= 6 && /\d/.test(part) && /[A-Za-z]/.test(part))
}

/** No word is that long, at least where a key is expected. */
export const isLongRun = (text: string): boolean => /[A-Za-z0-9]{20}/.test(text)
