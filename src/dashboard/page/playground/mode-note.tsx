/** Says where the answers come from. */
import { useCallback } from 'preact/hooks'
import { glob } from '../../../core/glob.js'
import { useConfig } from '../config.jsx'
import { useListing } from '../listing.js'
import { useServiceKey } from '../people/service-key.jsx'
import { CHAT } from './ask-model.js'

interface ModeJson {
  readonly mode: string
  /** By patterns such as `POST /v1/*`; the first that fits holds. */
  readonly modes: Readonly<Record<string, string>>
}

export function ModeNote() {
  const { mode: configured } = useConfig()
  const { serviceKey } = useServiceKey()
  const load = useCallback((signal: AbortSignal) => loadMode(serviceKey, signal), [serviceKey])
  const { listing } = useListing(load)
  const mode = (listing.kind === 'ready' && listing.value) || configured
  return (
    <>
      Mode <strong>{mode}</strong>: {meanings[mode] ?? 'this is where answers come from.'}
    </>
  )
}

const meanings: Readonly<Record<string, string>> = {
  emulate: 'answers come from your rules; where none matches they are made up.',
  proxy: 'answers come from the live platform, and cost what they cost there.',
  record: 'answers come from the live platform, cost what they cost there, and are kept as recordings.',
  replay: 'answers come from recordings; what was never recorded is an error.',
}

/** The mode for chats; `undefined` where the control API is closed to the page. */
async function loadMode(bearer: string | undefined, signal: AbortSignal): Promise<string | undefined> {
  const response = await fetch('/__standin/mode', {
    headers: bearer ? { authorization: `Bearer ${bearer}` } : {},
    signal,
  })
  if (!response.ok) return undefined
  const { mode, modes }: ModeJson = await response.json()
  const own = Object.entries(modes).find(([pattern]) => fits(pattern))
  return own?.[1] ?? mode
}

function fits(pattern: string): boolean {
  const [path = '', method = 'POST'] = pattern.split(' ').reverse()
  return method === 'POST' && glob(path).test(CHAT)
}
