/** Sends requests to a platform as an app does. */
import OpenAI from 'openai'
import type { Platform } from '../../src/index.js'

type Where = Pick<Platform, 'url' | 'apiKey'>

export const openaiFor = ({ url, apiKey }: Where, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0, defaultHeaders: headers })

/** The model's reply to one user message. */
export async function said(to: Where, content: string, headers?: Record<string, string>): Promise<string | null> {
  const { choices } = await openaiFor(to, headers).chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content }],
  })
  return choices[0]?.message.content ?? null
}
