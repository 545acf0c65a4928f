/** Which of the requests are shown: what the address of the page says, and back. */
import { callerInWords } from '../../../core/caller.js'
import type { BriefJson } from '../../journal-wire.js'

export interface Filter {
  /** Looked for in the path, what gave the answer, the model and who asked. */
  readonly text: string
  /** `2xx`, `none` where no answer has left; empty for all. */
  readonly status: string
  readonly mode: string
  readonly scope: string
  /** Only what was missed, refused, failed or cut. */
  readonly problems: boolean
}

export const everything: Filter = { text: '', status: '', mode: '', scope: '', problems: false }

export const filterIn = (query: URLSearchParams): Filter => ({
  text: query.get('text') ?? '',
  status: query.get('status') ?? '',
  mode: query.get('mode') ?? '',
  scope: query.get('scope') ?? '',
  problems: query.has('problems'),
})

/** What stands behind the `?`, with the exchange that is open; empty where nothing is to be said. */
export function queryOf({ text, status, mode, scope, problems }: Filter, id?: string): string {
  const said = Object.entries({ text, status, mode, scope, problems: problems ? 'yes' : '', id: id ?? '' })
  const query = new URLSearchParams(said.filter(([, value]) => value !== '')).toString()
  return query === '' ? '' : `?${query}`
}

export const hasFailed = ({ status, complete }: Pick<BriefJson, 'status' | 'complete'>) =>
  status === null || status >= 400 || !complete

export function matching(filter: Filter): (brief: BriefJson) => boolean {
  const wanted = filter.text.trim().toLowerCase()
  return brief =>
    (filter.status === '' || classOf(brief.status) === filter.status) &&
    (filter.mode === '' || brief.mode === filter.mode) &&
    (filter.scope === '' || brief.scope === filter.scope) &&
    (!filter.problems || brief.missed || hasFailed(brief)) &&
    (wanted === '' || saidOf(brief).includes(wanted))
}

const classOf = (status: number | null) => (status === null ? 'none' : `${Math.floor(status / 100)}xx`)

function saidOf({ method, path, source, model, error, caller }: BriefJson): string {
  return `${method} ${path}\n${source ?? ''}\n${model ?? ''}\n${error ?? ''}\n${callerInWords(caller)}`.toLowerCase()
}
