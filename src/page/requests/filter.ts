/** Which of the requests are shown: what the address of the page says, and back. */
import { type FactFilter, factTest, factWords } from '../../core/caller.js'
import type { JournalBrief } from '../../journal/operations.js'

export interface Filter {
  /** What is looked for anywhere, and words of the journal's query: `hello model:gpt-4o* credential:"my laptop"`. */
  readonly search: string
  /** `2xx`, `none` where no answer has left; empty for all. */
  readonly status: string
  readonly mode: string
  readonly scope: string
  /** Only what was missed, refused, failed or cut. */
  readonly problems: boolean
}

export const everything: Filter = { search: '', status: '', mode: '', scope: '', problems: false }

/** Bodies are not in the list: the journal is asked which exchanges contain a text. */
const TEXT = 'text'

const isFact = (word: string): word is keyof FactFilter => (factWords as readonly string[]).includes(word)

const isWord = (word: string) => word === TEXT || isFact(word)

/** Those that have a field of their own, and what is no word of a query. */
const known = new Set([...Object.keys(everything), 'id'])

export const filterIn = (query: URLSearchParams): Filter => ({
  search: [
    ...query.getAll('search'),
    // Of an address that the user typed: any other word of the query.
    ...[...query].flatMap(([word, value]) => (isWord(word) && !known.has(word) ? [`${word}:"${value}"`] : [])),
  ].join(' '),
  status: query.get('status') ?? '',
  mode: query.get('mode') ?? '',
  scope: query.get('scope') ?? '',
  problems: query.has('problems'),
})

/** What stands behind the `?`, with the exchange that is open; empty where nothing is to be said. */
export function queryOf({ search, status, mode, scope, problems }: Filter, id?: string): string {
  const said = Object.entries({ search, status, mode, scope, problems: problems ? 'yes' : '', id: id ?? '' })
  const query = new URLSearchParams(said.filter(([, value]) => value !== '')).toString()
  return query === '' ? '' : `?${query}`
}

/** The text that is looked for in bodies, as `text:"hello there"` in the search; nothing without one. */
export const textIn = ({ search }: Pick<Filter, 'search'>): string | undefined => wordsIn(search).text

export function matching({ search, status, mode, scope, problems }: Filter): (brief: JournalBrief) => boolean {
  const { words, rest } = wordsIn(search)
  const chosen = Object.entries({ status, mode, scope, search: rest }).filter(([, value]) => value !== '')
  return factTest({ ...words, ...Object.fromEntries(chosen), ...(problems && { problems }) })
}

interface Words {
  readonly words: FactFilter
  readonly text: string | undefined
  readonly rest: string
}

/** `status:401` and the like, and what is left of the search. */
function wordsIn(search: string): Words {
  const words: Record<string, unknown> = {}
  let text: string | undefined
  const rest = search.replace(/(\w+):("[^"]*"|\S+)/g, (all, word: string, written: string) => {
    if (!isWord(word)) return all
    const value = written.replace(/^"|"$/g, '')
    if (word === TEXT) text = value
    else words[word] = word === 'complete' || word === 'problems' ? /^(true|yes)$/i.test(value) : value
    return ''
  })
  return { words, text, rest: rest.trim() }
}
