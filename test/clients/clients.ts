/** Clients for tests, each with its own platform that refuses what OpenAI refuses: the requests of its clients are right. */
import { createOpenAICompatible, type OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible'
import OpenAI from 'openai'
import type { Platform, PlatformOptions, RuleInput } from '../../src/index.js'
import { platformWith } from '../scene.js'

/** The chat API of an OpenAI client. */
export async function chatWith(options: PlatformOptions, { maxRetries = 0 } = {}) {
  const { url, apiKey } = await platformWith({ requests: 'strict', ...options })
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries }).chat.completions
}

/** The same for a model that always gives this reply. */
export const chatSaying = (reply: RuleInput['reply']) => chatWith({ rules: [{ reply }] })

/** A request with one message. */
export const asking = (content: string) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user' as const, content }],
})

/** What a promise rejects with; `undefined` when it does not. */
export const failureOf = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => undefined,
    error => error,
  )

// Otherwise the SDK warns on the console about unsupported features.
globalThis.AI_SDK_LOG_WARNINGS = false

/** A model of the AI SDK, on its own platform. */
export const modelOf = async (options: PlatformOptions, settings?: ProviderSettings) =>
  modelAt(await platformWith({ requests: 'strict', ...options }), settings)

type ProviderSettings = Partial<OpenAICompatibleProviderSettings>

/** A model of the AI SDK on this platform. */
export function modelAt({ url, apiKey }: Platform, settings: ProviderSettings = {}) {
  const provider = createOpenAICompatible({
    name: 'standin',
    baseURL: `${url}/v1`,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
    ...settings,
  })
  return { model: provider('gpt-4o-mini'), maxRetries: 0 }
}
