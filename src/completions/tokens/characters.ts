/** How characters are put together: of code units here, of bytes in UTF-8. */

/** Whether a character of two code units stands across `at`. */
export const splitsPair = (text: string, at: number) => (text.codePointAt(at - 1) ?? 0) > 0xffff

/** The bytes of a code point. Half of a surrogate pair counts as the replacement character that it is encoded as. */
export function bytesOf(codePoint: number): number {
  if (codePoint < 0x80) return 1
  if (codePoint < 0x800) return 2
  return codePoint > 0xffff ? 4 : 3
}
