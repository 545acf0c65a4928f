/** Platforms of their own for tests, each with a client that asks it. */
import { createOpenAICompatible, type OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible'
import OpenAI from 'openai'
import type { Platform, PlatformOptions, RuleInput } from '../../src/index.js'
import { platformWith } from '../scene.js'

/** The chat of an OpenAI client. */
export async function chatWith(options: PlatformOptions, { maxRetries = 0 } = {}) {
  const { url, apiKey } = await platformWith(options)
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries }).chat.completions
}

/** That of a model that says this and nothing else. */
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

// What a provider cannot do is told on the console otherwise.
globalThis.AI_SDK_LOG_WARNINGS = false

/** A model of the AI SDK, on a platform of its own. */
export const modelOf = async (options: PlatformOptions, settings?: ProviderSettings) =>
  modelAt(await platformWith(options), settings)

type ProviderSettings = Partial<OpenAICompatibleProviderSettings>

/** A model of the AI SDK that asks this platform. */
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
