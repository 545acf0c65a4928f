/** Asks the control API about the journal. */
import { useMemo } from 'preact/hooks'
import type { EntryJson, MissJson } from '../../journal-wire.js'
import { Failure, noAnswer } from '../failure.js'
import { useServiceKey } from '../people/service-key.jsx'

export interface JournalClient {
  /** The body of an event stream that begins with the last of what is kept. */
  follow(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>
  entry(id: string, signal: AbortSignal): Promise<EntryJson>
  curl(id: string, signal: AbortSignal): Promise<string>
  misses(signal: AbortSignal): Promise<readonly MissJson[]>
  clear(): Promise<void>
}

/** So many are there at once when the page opens. */
const FIRST = 500

export function useJournalClient(): JournalClient {
  const { serviceKey } = useServiceKey()
  return useMemo(() => journalClient(serviceKey), [serviceKey])
}

function journalClient(bearer: string | undefined): JournalClient {
  const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }

  /** Rejects with a Failure in the API's own words. */
  async function get(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(`/__standin${path}`, { headers, ...init }).catch(() => {
      throw noAnswer()
    })
    if (response.ok) return response
    const { error } = await response.json().catch(() => ({ error: `The answer ${response.status} cannot be read.` }))
    throw new Failure(response.status, String(error))
  }

  return {
    async follow(signal) {
      const { body } = await get(`/journal?follow&brief&limit=${FIRST}`, { signal })
      if (!body) throw noAnswer()
      return body
    },
    entry: async (id, signal) => (await get(`/journal/${encodeURIComponent(id)}`, { signal })).json(),
    curl: async (id, signal) => (await get(`/journal/${encodeURIComponent(id)}/curl`, { signal })).text(),
    misses: async signal => (await (await get('/misses', { signal })).json()).data,
    clear: async () => void (await get('/journal', { method: 'DELETE' })),
  }
}
