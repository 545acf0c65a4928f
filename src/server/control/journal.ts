/** The journal over HTTP: its exchanges page by page or as they happen, one of them, how many there are, and forgetting them. */
import { randomUUID } from 'node:crypto'
import { type Request, type Response, Router } from 'express'
import { invalidRequest, noSuchExchange } from '../../core/errors.js'
import { only } from '../../core/only.js'
import {
  type Journal,
  type JournalBrief,
  type JournalFilter,
  journalFilter,
  journalQuery,
  journalScope,
  journalSearch,
} from '../../journal/index.js'
import { jsonIn } from '../json-in.js'
import { queryIn } from '../query-in.js'
import { follow } from './follow.js'
import { followInBrief } from './follow-brief.js'
import { sendPage } from './journal-page.js'
import { journalPaths, journalSchemas } from './journal-paths.js'
import type { ControlPart } from './part.js'

export interface JournalParts {
  readonly journal: Journal
  /** Where the platform is, for commands that ask it. */
  readonly url: () => string
  /** Aborted when the platform stops: nobody follows any longer. */
  readonly stopping: AbortSignal
}

/** How many are shown to whoever does not say. */
const PAGE = 100
/** And to whoever looks for certain ones: a test wants them all. */
const ALL = 1000

interface Followed {
  readonly filter: JournalFilter
  readonly limit: number | undefined
  readonly isBrief: boolean
}

export function createJournalPart({ journal, url, stopping }: JournalParts): ControlPart {
  const run = randomUUID()
  const ends = new Set<() => void>()
  stopping.addEventListener('abort', () => {
    for (const end of ends) end()
  })

  /** A page: `next` is the id from which to go on, as `after` where that was asked for and as `before` otherwise; missing at the end. */
  function answerPage(response: Response, filter: JournalFilter, limit: number, isBrief = false): Promise<void> {
    // One more than is shown tells whether there are any.
    const found = journal.ids(filter, limit + 1)
    const forward = filter.after !== undefined
    const ids = forward ? found.slice(0, limit) : found.slice(-limit)
    const next = forward ? ids.at(-1) : ids.at(0)
    return sendPage(
      response,
      { ids, next: found.length > limit ? next : undefined },
      isBrief ? brief : id => journal.get(id),
    )
  }

  function brief(id: string): JournalBrief | undefined {
    const kept = journal.kept(id)
    return kept && journal.brief(kept)
  }

  function answerFollower(request: Request, response: Response, { filter, limit, isBrief }: Followed) {
    if (filter.before !== undefined) throw invalidRequest('before is not possible together with follow.')
    const after = request.get('last-event-id') ?? filter.after
    const from = { ...filter, ...(after !== undefined && /^\d+$/.test(after) && { after }) }
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    if (request.method === 'HEAD' || stopping.aborted) return void response.end()
    const end = isBrief
      ? followInBrief(response, journal, { filter, run, first: beforeInBrief(from, limit) })
      : follow(response, journal, { filter, first: before(from, limit) })
    ends.add(end)
    response.once('close', () => ends.delete(end))
  }

  /** What a follower is told before anything new: all behind a certain one, or so many of the last. */
  function before(filter: JournalFilter, limit: number | undefined): readonly string[] {
    if (filter.after !== undefined) return journal.ids(filter)
    return limit === undefined ? [] : journal.ids(filter, limit)
  }

  /** No more than a list would show. */
  function beforeInBrief(filter: JournalFilter, limit: number | undefined): readonly JournalBrief[] {
    if (filter.after !== undefined) return journal.briefs(filter).slice(-ALL)
    return limit === undefined ? [] : journal.briefs(filter, limit)
  }

  const router = Router()
  router
    .route('/')
    .get(async (request, response) => {
      const { follow: stays = false, brief: isBrief = false, limit, ...filter } = queryIn(request, journalQuery)
      if (stays) answerFollower(request, response, { filter, limit, isBrief })
      else await answerPage(response, filter, limit ?? PAGE, isBrief)
    })
    .delete((request, response) => {
      journal.clear(queryIn(request, journalScope))
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'DELETE'))
  router
    .route('/count')
    .post(async (request, response) => {
      response.json({ count: journal.count(await jsonIn(request, journalFilter)) })
    })
    .all(only('POST'))
  router
    .route('/find')
    .post(async (request, response) => {
      const { limit = ALL, ...filter } = await jsonIn(request, journalSearch)
      await answerPage(response, filter, limit)
    })
    .all(only('POST'))
  router
    .route('/:id')
    .get(({ params: { id } }, response) => {
      const entry = journal.get(id)
      if (!entry) throw noSuchExchange(id)
      response.json(entry)
    })
    .all(only('GET', 'HEAD'))
  router
    .route('/:id/curl')
    .get(({ params: { id } }, response) => {
      const command = journal.curl(id, url())
      if (command === undefined) throw noSuchExchange(id)
      response.type('text/plain').send(command)
    })
    .all(only('GET', 'HEAD'))
  return { at: '/journal', router, paths: journalPaths, schemas: journalSchemas }
}
