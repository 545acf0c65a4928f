/** Sends calls over HTTP, as they are: redirects are answers, and an answer that never ends is cut off. */
import { fetchFrom } from '../core/fetch-from.js'
import type { Answered, Send } from './call.js'

interface SendOptions {
  /** Without a slash at its end. */
  readonly url: string
  readonly authUrl: string
  /** Whether a certificate that nobody vouches for will do. */
  readonly insecure: boolean
}

/** No answer that the contract looks at comes near it. */
const MOST_BYTES = 4_000_000

export function sendOverHttp({ url, authUrl, insecure }: SendOptions): Send {
  const ask = fetchFrom({ insecure })
  return async ({ to, method, path, headers, body }, signal) => {
    const base = to === 'auth' ? authUrl : url
    const response = await ask(base + path, {
      ...{ method, headers, signal, redirect: 'manual' },
      ...(body !== undefined && { body }),
    }).catch(error => {
      throw new Error(reasonOf(error))
    })
    return { kind: 'answered', status: response.status, headers: response.headers, text: await textOf(response) }
  }
}

async function textOf({ body }: Response): Promise<Answered['text']> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const piece of body ?? []) {
      bytes += piece.length
      if (bytes > MOST_BYTES) throw new Error(`the answer is larger than ${MOST_BYTES} bytes`)
      text += decoder.decode(piece, { stream: true })
    }
  } catch (error) {
    throw new Error(`the answer broke off after ${bytes} bytes: ${reasonOf(error)}`)
  }
  return text + decoder.decode()
}

/** What fetch failed with is the cause of what it throws. */
function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException }
  if (name === 'TimeoutError') return 'it took too long'
  return cause?.code ?? cause?.message ?? message
}
