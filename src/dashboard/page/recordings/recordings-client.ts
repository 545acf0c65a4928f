/** Recordings as the control API has them. */
import { useMemo } from 'preact/hooks'
import { askControl } from '../ask-control.js'
import { useServiceKey } from '../people/service-key.jsx'

export interface ReadRecording {
  readonly file: string
  readonly recordedAt: string
  readonly method: string
  readonly path: string
  readonly model: string | null
  readonly said: string | null
  readonly status: number
  readonly streamed: boolean
  readonly complete: boolean
  readonly bytes: number
  readonly used: boolean
  readonly stale: boolean
}

export type ListedRecording = ReadRecording | { readonly file: string; readonly problem: string }

export interface RecordingList {
  /** Which folder they are in. */
  readonly folder: string
  readonly data: readonly ListedRecording[]
  readonly total: number
}

export interface RecordingsClient {
  list(query: string, signal: AbortSignal): Promise<RecordingList>
  text(file: string, signal: AbortSignal): Promise<string>
  remove(file: string): Promise<void>
}

export function useRecordingsClient(): RecordingsClient {
  const { serviceKey: bearer } = useServiceKey()
  return useMemo(() => {
    const one = (file: string) => `/recordings/${encodeURIComponent(file)}`
    return {
      list: (query, signal) => askControl(`/recordings${query}`, { bearer, signal }),
      text: async (file, signal) => (await askControl<{ text: string }>(one(file), { bearer, signal })).text,
      remove: file => askControl(one(file), { method: 'DELETE', bearer }),
    }
  }, [bearer])
}
