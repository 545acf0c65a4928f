/** Connects a test to a platform in another process: a server started before all tests, or a container. */
import * as v from 'valibot'
import { closed, optional } from '../check/forms.js'
import { ProblemsError } from '../check/problem.js'
import type { ControlOperations } from '../control/operations.js'
import { createClient } from '../core/client.js'
import { stringifyExact } from '../core/json.js'
import { DASHBOARD } from '../core/paths.js'
import { environmentFor } from '../environment/index.js'
import { createTestClient, type SharedPlatform, type TestEnvironment } from './client.js'
import { remoteDoor, testHeaders } from './door.js'
import { aText, inputCheck } from './input-check.js'

export interface ConnectOptions {
  /** The control token. Only needed if the platform can be reached from other machines. */
  readonly controlToken?: string | undefined
}

const expectedAddress = 'the address of a running Standin, such as http://127.0.0.1:4100'
const address = inputCheck('connect', v.pipe(v.string(expectedAddress), v.regex(/^https?:\/\//i, expectedAddress)))

const connectOptions = inputCheck('connect', closed({ controlToken: optional(aText, 'The control token.') }))

/**
 * Connects to a platform that runs in another process. A test can use it like one from `startPlatform()`.
 *
 * ```ts
 * const platform = await connect('http://127.0.0.1:4100')
 * await platform.reply('Sunny.')
 * …
 * await expect(platform).toHaveReceived({ path: '/v1/chat/completions' })
 * ```
 *
 * Rejects with an Error if nothing answers at the address, or if a control token is missing.
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<SharedPlatform> {
  const { controlToken } = connectOptions(options)
  const base = address(url).replace(/(?<!\/)\/+$/, '')
  const control = createClient<ControlOperations>(`${base}/__standin`, {
    bearer: () => controlToken,
    headers: testHeaders,
    failed: ({ status, message, cause }) => failure(base, status, message, cause),
    stringify: stringifyExact,
  })
  const { publishableKey, secretKey, env, ...keys } = await control('GET /credentials')
  // Another server may answer with a page, or with other JSON.
  if (publishableKey === undefined) throw failure(base, 0)
  const connection = { url: base, authUrl: base, ...keys }
  const loaded = { config: { auth: { publishableKey, secretKey }, env } }
  const { variables } = environmentFor({ ...connection, loaded }, { folders: ['.'], env: process.env })
  const facts = { ...connection, dashboardUrl: base + DASHBOARD, env: Object.fromEntries(variables) as TestEnvironment }
  return Object.assign(createTestClient(remoteDoor(control)), facts)
}

/** Turns an error answer into an Error with the platform's own sentence. A 400 becomes a ProblemsError, as with `startPlatform()`. */
function failure(url: string, status: number, message?: unknown, cause?: unknown): Error {
  // Standin's errors always have a message.
  if (typeof message !== 'string') return new Error(`No Standin answers at ${url}.`, { cause })
  if (status === 400) return new ProblemsError([{ origin: url, sentence: message }])
  return new Error(`${url} answers ${status}: ${message}`, { cause })
}
