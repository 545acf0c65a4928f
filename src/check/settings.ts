/** Settings written in one line, as in a header: `cutAfterChunks=3; message=slow down`. */
import type * as v from 'valibot'
import { check } from './check.js'

/**
 * The settings in `text`, checked by `schema`, or a sentence about the first mistake. Numbers, `true` and `false` are read as such,
 * quoted text is text, semicolons included, and a name alone is true.
 */
export function settingsIn<S extends v.GenericSchema<unknown, unknown>>(
  text: string,
  schema: S,
): { readonly value: v.InferOutput<S> } | { readonly sentence: string } {
  const settings: Record<string, unknown> = Object.create(null)
  for (const part of text.match(parts) ?? []) {
    const mark = part.indexOf('=')
    const name = (mark < 0 ? part : part.slice(0, mark)).trim()
    if (part.trim() === '') continue
    if (name in settings) return { sentence: `${name} is there twice.` }
    settings[name] = mark < 0 ? true : read(part.slice(mark + 1).trim())
  }
  const checked = check(schema, { ...settings }, { firstOnly: true, whole: 'it' })
  return 'value' in checked ? checked : { sentence: checked.mistakes[0]?.sentence ?? '' }
}

/** The parts between semicolons; those in quotes belong to the text. */
const parts = /(?:=\s*"[^"]*"|[^;])+/g

function read(text: string): unknown {
  if (/^"[^"]*"$/.test(text)) return text.slice(1, -1)
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
