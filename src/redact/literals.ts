/** Finds known secret values, in all forms in which they may be written. */
import { percentEncoded } from './addresses.js'
import type { Match, Search } from './match.js'

interface Literal {
  readonly name: string
  readonly value: string
}

/** A shorter value would match ordinary words. */
const SHORTEST = 6

const nothing: Search = () => []

/** If two values have a form in common, the name of the first one is used. */
export function createLiteralSearch(literals: readonly Literal[]): Search {
  const names = new Map<string, string>()
  const padded = new Set<string>()
  for (const { name, value } of literals) {
    if (value.length < SHORTEST) continue
    const encoded = base64Forms(value)
    for (const form of encoded) padded.add(form)
    for (const form of [...plainForms(value), ...encoded]) if (!names.has(form)) names.set(form, name)
  }
  if (names.size === 0) return nothing
  const longestFirst = [...names.keys()].sort((a, b) => b.length - a.length)
  const anyOf = longestFirst.map(form => escaped(form) + (padded.has(form) ? '(?:=|%3[Dd]){0,2}' : ''))
  const expression = new RegExp(anyOf.join('|'), 'g')

  return text => {
    const found: Match[] = []
    expression.lastIndex = 0
    for (let hit = expression.exec(text); hit; hit = expression.exec(text)) {
      const { 0: form, index } = hit
      const name = names.get(form) ?? names.get(form.replace(/(?:=|%3[Dd])+$/, '')) ?? ''
      found.push({ start: index, end: index + form.length, name, isNumbered: false })
    }
    return found
  }
}

function plainForms(value: string): readonly string[] {
  const inJson = JSON.stringify(value).slice(1, -1)
  return [
    value,
    ...percentForms(value),
    inJson,
    inJson.replaceAll('/', '\\/'),
    inJson.replace(/[^\x20-\x7e]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
    // JSON in JSON, as the arguments of tools are.
    JSON.stringify(inJson).slice(1, -1),
    // As bytes, read as one character each.
    Buffer.from(value).toString('latin1'),
  ]
}

function percentForms(value: string): readonly string[] {
  const upper = [
    percentEncoded(value),
    new URLSearchParams([['', value]]).toString().slice(1),
    encodeURI(value.toWellFormed()),
  ]
  return [...upper, ...upper.map(form => form.replace(/%[\dA-F]{2}/g, code => code.toLowerCase()))]
}

/** Without the optional padding. */
function base64Forms(value: string): readonly string[] {
  const bytes = Buffer.from(value)
  const whole = bytes.toString('base64').replace(/=+$/, '')
  const all =
    bytes.length < SHORTEST_INSIDE ? [whole] : [whole, ...[0, 1, 2].map(before => insideBase64(bytes, before))]
  return all.flatMap(base64 => [
    base64,
    percentEncoded(base64),
    base64.replace(/[+/]/g, sign => (sign === '+' ? '-' : '_')),
  ])
}

/** Inside a longer text, such as `user:value`, a shorter value would leave only a few letters. */
const SHORTEST_INSIDE = 12

/** The letters that depend on these bytes alone when `before` bytes, and any multiple of three, precede them. */
const insideBase64 = (bytes: Buffer, before: number): string =>
  Buffer.concat([Buffer.alloc(before), bytes])
    .toString('base64')
    .slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3))

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
