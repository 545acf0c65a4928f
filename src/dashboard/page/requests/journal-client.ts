/** Asks the control API about the journal. */
import { useMemo } from 'preact/hooks'
import type { EntryJson, MissJson } from '../../journal-wire.js'
import type { ListJson } from '../../wire.js'
import { answerControl, askControl } from '../ask-control.js'
import { noAnswer } from '../failure.js'
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
  const at = (id: string) => `/journal/${encodeURIComponent(id)}`
  return {
    async follow(signal) {
      const { body } = await answerControl(`/journal?follow&brief&limit=${FIRST}`, { signal, bearer })
      if (!body) throw noAnswer()
      return body
    },
    entry: (id, signal) => askControl(at(id), { signal, bearer }),
    curl: async (id, signal) => (await answerControl(`${at(id)}/curl`, { signal, bearer })).text(),
    misses: async signal => (await askControl<ListJson<MissJson>>('/misses', { signal, bearer })).data,
    clear: async () => void (await askControl('/journal', { method: 'DELETE', bearer })),
  }
}
