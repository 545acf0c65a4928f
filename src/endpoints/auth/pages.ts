/** Lists in pages: which one is asked for, and where the others stand. */
import { validationFailed } from '../../core/auth-errors.js'

const PER_PAGE = 50

export interface Page {
  readonly number: number
  readonly size: number
}

/** The page that a query asks for. Throws a 400 for what is no number. */
export function pageIn(query: URLSearchParams): Page {
  const number = Math.max(1, countIn(query.get('page'), 1))
  const size = countIn(query.get('per_page'), PER_PAGE)
  if (size === 0) throw validationFailed('Bad Pagination Parameters: per_page must be greater than 0')
  return { number, size }
}

function countIn(text: string | null, otherwise: number): number {
  if (text === null || text === '') return otherwise
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const why = /^\d+$/.test(text) ? 'value out of range' : 'invalid syntax'
  throw validationFailed(`Bad Pagination Parameters: strconv.ParseUint: parsing ${JSON.stringify(text)}: ${why}`)
}

/** The headers of a page: how many there are in all, and the next and the last page as the server behind the gateway sees them. */
export function pageHeaders(path: string, query: URLSearchParams, { number, size }: Page, total: number): string[] {
  const last = Math.ceil(total / size)
  const linkTo = (to: number, rel: string) => {
    const there = new URLSearchParams(query)
    there.delete('apikey')
    there.set('page', String(to))
    there.sort()
    return `<${path}?${there}>; rel="${rel}"`
  }
  const links = [...(number < last ? [linkTo(number + 1, 'next')] : []), linkTo(last, 'last')]
  return ['x-total-count', String(total), 'link', links.join(', ')]
}
