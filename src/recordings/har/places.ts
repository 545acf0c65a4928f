/** Finds places in the text of a HAR file. */
import type { Problem } from '../../core/problem.js'
import { jsonTexts } from '../redacted/json-texts.js'

type Path = readonly (string | number)[]

/** Both count from 1. */
export const placeAt = (text: string, position: number): Pick<Problem, 'line' | 'column'> => {
  const before = text.slice(0, position)
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') }
}

/** Where the values at these paths stand, or what is around them where they are not there; in their order. */
export function positionsOf(json: string, paths: readonly Path[]): readonly number[] {
  const found = paths.map(() => ({ depth: -1, start: 0 }))
  for (const { start, kind, path } of jsonTexts(json, true)) {
    for (const [i, wanted] of paths.entries()) {
      const best = found[i]
      if (!best || path.length <= best.depth || path.length > wanted.length) continue
      if (path.every((step, at) => step === wanted[at]))
        found[i] = { depth: path.length, start: kind === 'text' ? start - 1 : start }
    }
  }
  return found.map(({ start }) => start)
}

const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON does not have them in texts
  /[ \t\r\n]*("[^"\\\0-\x1f]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[^"\\\0-\x1f]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:])/y

/** Where a text stops being JSON: not every message of JSON.parse says so. */
export function positionOfMistake(json: string): number {
  const open: string[] = []
  let next: 'value' | 'name' | 'colon' | 'comma' = 'value'
  let isFirst = false
  let end = 0
  for (token.lastIndex = 0; ; end = token.lastIndex) {
    const [, sign] = token.exec(json) ?? []
    if (sign === undefined) break
    const inside = open.at(-1)
    const closes = sign === '}' ? '{' : sign === ']' ? '[' : undefined
    if (closes !== undefined) {
      if (inside !== closes || !(next === 'comma' || isFirst)) break
      open.pop()
      next = 'comma'
    } else if (
      next === 'colon'
        ? sign !== ':'
        : next === 'comma'
          ? sign !== ',' || open.length === 0
          : next === 'name' && sign[0] !== '"'
    )
      break
    else if (next === 'colon') next = 'value'
    else if (next === 'comma') next = inside === '{' ? 'name' : 'value'
    else if (next === 'name') next = 'colon'
    else if (sign === '{' || sign === '[') {
      open.push(sign)
      next = sign === '{' ? 'name' : 'value'
    } else if (sign === ',' || sign === ':') break
    else next = 'comma'
    isFirst = closes === undefined && (sign === '{' || sign === '[')
  }
  return end + (/^[ \t\r\n]*/.exec(json.slice(end, end + 10_000))?.[0].length ?? 0)
}
