/** Writes values as the media types that are sequences of items: server-sent events and lines of JSON. */
import { isObject, jsonOf, stringifyExact } from '../core/json.js'

/** How a value is written as each of these media types. A list has one item for each of its values. */
export const framesOfStreams: ReadonlyMap<string, (value: unknown) => string> = new Map([
  ['text/event-stream', events],
  ...['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/x-jsonlines'].map(
    type => [type, jsonLines] as const,
  ),
  // RFC 7464: each item begins with a record separator.
  [
    'application/json-seq',
    value =>
      items(value)
        .map(item => `\x1e${stringifyExact(item)}\n`)
        .join(''),
  ],
])

const items = (value: unknown): readonly unknown[] => [value].flat()

/** A text may be lines already. */
function jsonLines(value: unknown): string {
  if (typeof value === 'string' && value.split('\n').every(line => line.trim() === '' || jsonOf(line) !== undefined))
    return value.endsWith('\n') ? value : `${value}\n`
  return items(value)
    .map(item => `${stringifyExact(item)}\n`)
    .join('')
}

const fieldNames = new Set(['event', 'data', 'id', 'retry'])

/** A text may be events already; YAML often removes the blank line at its end. */
function events(value: unknown): string {
  if (typeof value === 'string' && /^(event|data|id|retry)?:/.test(value)) return withBlankLine(value)
  return items(value).map(event).join('')
}

const withBlankLine = (text: string) => (text.endsWith('\n\n') ? text : `${text}${text.endsWith('\n') ? '' : '\n'}\n`)

/** An object with only the fields of an event is one; any other value is the data of an event. */
function event(item: unknown): string {
  const isEvent =
    isObject(item) && Object.keys(item).length > 0 && Object.keys(item).every(name => fieldNames.has(name))
  const fields = Object.entries(isEvent ? item : { data: item }).flatMap(([name, field]) => {
    const text = typeof field === 'string' ? field : stringifyExact(field)
    return text.split(/\r\n|\r|\n/).map(line => `${name}: ${line}\n`)
  })
  return `${fields.join('')}\n`
}
