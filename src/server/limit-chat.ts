/** Holds a chat completion request against the limits of its credential. */
import type { ServerResponse } from 'node:http'
import { type ChatRequest, chatIn } from '../completions/request.js'
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { Pass } from '../limits/index.js'
import type { ModeOf } from './modes.js'

interface Limited {
  readonly response: ServerResponse
  readonly exchange: Exchange
  readonly parts: {
    readonly modeOf: ModeOf
    /** The tokens of a prompt that takes long to count. */
    readonly heavyPrompt: (exchange: Exchange) => Promise<number> | undefined
  }
  readonly pass?: Pass | undefined
}

/**
 * Counts the prompt and, for as long as it is open, the stream. Throws a 400 or a 429 when it is too much. A promise only where the prompt
 * takes long to count, which then rejects with the same.
 */
export function limitChat({ response, exchange, parts, pass }: Limited): Promise<void> | undefined {
  // Who has left already never closes again.
  if (!pass?.countsChat || response.destroyed) return undefined
  const chat = readable(exchange, parts.modeOf)
  if (!chat) return undefined
  const limit = (promptTokens?: number) => {
    const close = response.destroyed ? undefined : pass.chat(chat, promptTokens)
    if (close) response.once('close', close)
  }
  const counted = pass.countsPrompts ? parts.heavyPrompt(exchange) : undefined
  if (counted) return counted.then(limit)
  limit()
  return undefined
}

/** What the live platform makes of a body that is no chat completion request is for it to say. */
function readable(exchange: Exchange, modeOf: ModeOf): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch (error) {
    if (modeOf(exchange) !== 'emulate' && error instanceof PlatformError) return undefined
    throw error
  }
}
