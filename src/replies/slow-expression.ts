/** Finds regular expressions that can take exponential time: an unlimited repetition inside another one. */

import { behindClass, repetition } from './conditions/literals.js'

const endless = /^(?:[*+]|\{\d+,\})/

/**
 * Whether an unlimited repetition contains another one: `(a+)+`. Some of these are harmless, such as `(a+b)+`, but most
 * are mistakes.
 */
export function slowExpression({ source }: RegExp): boolean {
  /** For each open group: whether it contains an unlimited repetition, and whether something must follow it. */
  const open: { repeats: boolean; fenced: boolean }[] = []
  for (let i = 0; i < source.length; i++) {
    const letter = source[i]
    const here = open.at(-1)
    if (letter === '\\') i++
    else if (letter === '[') i = behindClass(source, i)
    else if (letter === '(') {
      open.push({ repeats: false, fenced: false })
      continue
    } else if (letter === ')') {
      const group = open.pop()
      const around = open.at(-1)
      const repeats = endless.test(source.slice(i + 1))
      if (group?.repeats && !group.fenced && repeats) return true
      if (around && (repeats || group?.repeats)) Object.assign(around, { repeats: true, fenced: false })
      continue
    } else if (letter === '|') {
      if (here) here.fenced = false
      continue
    } else if (letter === '*' || letter === '+' || letter === '?' || letter === '^' || letter === '$') continue
    else if (letter === '{') {
      i += (repetition.exec(source.slice(i))?.[0].length ?? 1) - 1
      continue
    }
    if (!here) continue
    if (endless.test(source.slice(i + 1))) Object.assign(here, { repeats: true, fenced: false })
    // If something must follow the inner repetition, it separates the rounds of the outer one.
    else if (here.repeats && !/^[?*{]/.test(source.slice(i + 1))) here.fenced = true
  }
  return false
}
