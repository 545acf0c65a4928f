/** Finds e-mail addresses. */
import type { Match } from './match.js'

/** No name in front of the sign is longer (RFC 5321, 4.5.3.1.1). */
const LONGEST_NAME = 64

const nameBefore = /[\p{L}\p{N}._+'-]+$/u
const hostBehind = /(?:[\p{L}\p{N}-]{1,63}\.){1,8}[\p{L}][\p{L}\p{N}-]{0,62}[\p{L}\p{N}]/uy

export function emailsIn(text: string): readonly Match[] {
  const found: Match[] = []
  for (const { 0: sign, index } of text.matchAll(/@|%40/g)) {
    const name = nameBefore.exec(text.slice(Math.max(0, index - LONGEST_NAME - 1), index))?.[0] ?? ''
    const before = text[index - name.length - 1]
    // The letter of an escape, as in `\nada@example.com`, is none of the name.
    const start = index - (before === '\\' && /^[bfnrt]./.test(name) ? name.length - 1 : name.length)
    hostBehind.lastIndex = index + sign.length
    if (start === index || !hostBehind.test(text)) continue
    found.push({ start, end: hostBehind.lastIndex, name: 'email', isNumbered: true })
  }
  return found
}
