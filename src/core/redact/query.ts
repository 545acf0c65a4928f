/** Takes secrets out of the query of an address. */
import type { IsSecretName } from './names.js'
import { percentDecoded, percentEncoded } from './percent.js'
import { placeholderOf } from './placeholders.js'

/** What holds no secret stays byte for byte. */
export function redactedQuery(query: string, isSecret: IsSecretName, redact: (text: string) => string): string {
  const redacted = (written: string) => {
    const text = percentDecoded(written)
    const open = redact(text)
    return open === text ? written : encoded(open)
  }
  return query
    .split('&')
    .map(parameter => {
      const [written = ''] = parameter.split('=', 1)
      if (written === parameter) return redacted(parameter)
      const value = parameter.slice(written.length + 1)
      const name = percentDecoded(written)
      if (value !== '' && isSecret(name)) return `${written}=${placeholderOf(name)}`
      return `${redacted(written)}=${redacted(value)}`
    })
    .join('&')
}

/** The brackets of placeholders read better as they are, and browsers leave them as well. */
const encoded = (text: string) => percentEncoded(text).replaceAll('%5B', '[').replaceAll('%5D', ']')
