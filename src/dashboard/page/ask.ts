/** Asks the dashboard's API. */
import { Failure, noAnswer } from './failure.js'

interface Ask {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly body?: object | undefined
  readonly bearer?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The JSON of the answer; `undefined` where there is none. Rejects with a Failure in the API's own words. */
export async function ask<Json>(path: string, { method = 'GET', body, bearer, signal }: Ask = {}): Promise<Json> {
  const headers = new Headers()
  if (body) headers.set('content-type', 'application/json')
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) }
  const response = await fetch(`/dashboard/api${path}`, init).catch(() => {
    throw noAnswer()
  })
  if (response.status === 204) return undefined as Json
  const json = await response.json().catch(() => ({ error: `The answer ${response.status} cannot be read.` }))
  if (!response.ok) throw new Failure(response.status, String(json.error))
  return json
}
