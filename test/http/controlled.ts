/** Calls the control API in tests. */
import type { Platform } from '../../src/platform.js'

/** The status of an answer and its JSON; `body` is undefined when the answer has none. */
interface ControlAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  readonly body: any
}

export async function control({ url }: Pick<Platform, 'url'>, what: string, body?: unknown): Promise<ControlAnswer> {
  const [method = 'GET', path] = what.split(' ')
  const response = await fetch(`${url}/__standin${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
