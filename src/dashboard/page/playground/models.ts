/** The models that the platform lists for a credential. */
import { useEffect, useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { Failure, failureOf, noAnswer } from '../failure.js'
import type { Credential } from './credential.jsx'

export interface Models {
  readonly ids: readonly string[]
  /** Why these are those of the configuration only. */
  readonly hint: string | undefined
}

type Listed = { readonly ids: readonly string[] } | { readonly failure: Failure } | undefined

/**
 * `shown` changes when another credential is shown; one that is still being typed is not asked with.
 * It is asked once for each: an app's developer reads the same log, and has the same limits.
 */
export function useModels({ bearer, isThere }: Credential, shown: string): Models {
  const { models: configured } = useConfig()
  const [listed, setListed] = useState<Listed>()

  useEffect(() => {
    setListed(undefined)
    if (!isThere) return
    const leaving = new AbortController()
    const settle = (found: Listed) => {
      if (!leaving.signal.aborted) setListed(found)
    }
    listModels(bearer, leaving.signal).then(
      ids => settle({ ids }),
      thrown => settle({ failure: failureOf(thrown) }),
    )
    return () => leaving.abort()
    // What tells the credential is another function each time, and tells the same.
  }, [shown, isThere])

  if (listed && 'failure' in listed) {
    return { ids: configured, hint: `Those of the configuration: the listing says “${listed.failure.message}”` }
  }
  return { ids: listed?.ids.length ? listed.ids : configured, hint: undefined }
}

async function listModels(bearer: Credential['bearer'], signal: AbortSignal): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${await bearer()}` }
  const response = await fetch('/v1/models', { headers, signal }).catch(() => {
    throw noAnswer()
  })
  const json = await response.json().catch(() => undefined)
  if (!response.ok) throw new Failure(response.status, String(json?.error ?? `status ${response.status}`))
  const models: unknown = json?.data
  return Array.isArray(models) ? models.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])) : []
}
