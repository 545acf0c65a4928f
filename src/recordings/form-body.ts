/** Bodies of forms, which are compared by their fields: encoded like a query, or in parts. */

import { percentDecoded } from '../core/paths.js'
import { joinedQuery, normalQuery, parametersIn } from './canonical.js'
import type { Ignore } from './ignore.js'

/** A query in a body. A text with spaces or brackets is none, unless its content type says so. */
export const isQueryForm = (text: string): boolean => /^[^\s&=<>{}"]+=[^\s<>{}"]*$/.test(text)

/** The line before each part, once the client's own boundary is replaced. */
const BOUNDARY = '--boundary'

export const isMultipart = (text: string): boolean => text.startsWith(BOUNDARY)

/** Clients choose a random boundary between the parts of a form. Here it is always the same. */
export function withoutBoundary(text: string, contentType: string): string {
  const boundary = /^multipart\/.*;\s*boundary="?([^";]+)/i.exec(contentType)?.[1]
  return boundary === undefined ? text : text.replaceAll(`--${boundary}`, BOUNDARY)
}

/** The part of a text that is compared. The fields of a form are sorted by name, and ignored ones are left out. */
export function comparedText(text: string, ignore: Ignore): string {
  if (isMultipart(text)) return comparedParts(text, ignore)
  return isQueryForm(text) ? comparedFields(text, ignore) : ignore.inText(text)
}

const comparedFields = (text: string, ignore: Ignore) =>
  joinedQuery(
    parametersIn(normalQuery(text)).flatMap(([name, value]) => {
      const before = percentDecoded(value ?? '')
      const after = ignore.inField(percentDecoded(name), before)
      if (after === before) return [[name, value] as const]
      return after === undefined ? [] : [[name, after.replaceAll('&', '%26')] as const]
    }),
  )

function comparedParts(text: string, ignore: Ignore): string {
  const [start = '', ...parts] = text.split(BOUNDARY)
  const end = parts.pop() ?? ''
  const kept = parts.flatMap(part => {
    const headEnd = part.indexOf('\r\n\r\n') + 1
    const head = part.slice(0, headEnd)
    const [, quoted, name = quoted ?? ''] = /;\s*name=(?:"([^"]*)"|([^\s;]+))/i.exec(head) ?? []
    const content = headEnd === 0 ? ignore.inText(part) : ignore.inField(name, part.slice(headEnd))
    return content === undefined ? [] : { name, text: head + content }
  })
  const sorted = kept.toSorted((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0))
  return [start, ...sorted.map(({ text }) => text), end].join(BOUNDARY)
}
