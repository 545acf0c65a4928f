/** Sets the scene for a test: its own platform, stopped when the test ends. */

import { onTestFinished } from 'vitest'
import { type Platform, type PlatformOptions, startPlatform } from '../src/index.js'
import type { Until } from './command.js'

export interface Scene extends Platform {
  /** Sends a request, by default with the API key; `bearer: null` sends no credential. */
  ask(path: string, options?: Ask): Promise<Response>
  /** Requests a chat completion. */
  chat(body: object, options?: Ask): Promise<Response>
}

interface Ask extends Omit<RequestInit, 'headers'> {
  readonly bearer?: string | null
  readonly headers?: Record<string, string>
}

/** Starts a platform with these options; by default it stops when the test ends. */
export async function platformWith(options: PlatformOptions = {}, until: Until = onTestFinished): Promise<Scene> {
  const platform = await startPlatform(options)
  until(() => platform.stop())
  const ask: Scene['ask'] = (path, { bearer = platform.apiKey, headers, ...init } = {}) =>
    fetch(platform.url + path, {
      ...init,
      headers: { ...(bearer !== null && { authorization: `Bearer ${bearer}` }), ...headers },
    })
  const chat: Scene['chat'] = (body, { headers, ...options } = {}) =>
    ask('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
      ...options,
    })
  return Object.assign(platform, { ask, chat })
}

/** The shortest valid request. */
export const hello = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }

/** The objects of a stream's events, and whether `[DONE]` ended it. */
export function eventsOf(text: string): { readonly chunks: readonly Chunk[]; readonly done: boolean } {
  const data = text
    .split('\n\n')
    .filter(event => event !== '')
    .map(event => event.replace(/^data: /, ''))
  const done = data.at(-1) === '[DONE]'
  return { chunks: (done ? data.slice(0, -1) : data).map(json => JSON.parse(json)), done }
}

export interface Chunk {
  readonly id: string
  readonly object: string
  readonly model: string
  readonly choices: readonly {
    readonly delta: { readonly role?: string; readonly content?: string }
    readonly finish_reason: string | null
  }[]
  readonly usage?: { readonly total_tokens: number } | null
}

/** The text of a stream's chunks, joined. */
export const textOfChunks = (chunks: readonly Chunk[]) =>
  chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')

/** The fixed parts of a refusal: its status, its challenge and its body. */
export const refusalOf = async (response: Response) => ({
  status: response.status,
  challenge: response.headers.get('www-authenticate'),
  body: await response.json(),
})

/** The refusal of a credential with this error. */
export const unauthorized = (error: string) => ({ status: 401, challenge: 'Bearer', body: { error } })
